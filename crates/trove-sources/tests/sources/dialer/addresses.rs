//! Ways to make a service connect where it must not. None of them connects.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use trove_sources::dialer::{Backoff, DialError};
use trove_testkit::model_server::{ModelServer, Reply};

use super::get;
use crate::support::{FakeNames, Setting};

/// Hosts, as an attacker writes them. `{}` is where the port of the server stands.
const HOSTS: &[&str] = &[
    // This machine, in the spellings of IPv4.
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7F.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "0177.0.0.1",
    "017700000001",
    "0177.1",
    "00000177.0.0.1",
    "127.0x0.00.1",
    "127.0.0.1.",
    "127.1.",
    "%31%32%37.0.0.1",
    "127%2e0.0.1",
    "0",
    "0.0.0.0",
    "0x0",
    "00",
    "0.0",
    "0.1.2.3",
    // With digits and dots of other scripts, which are the same after normalisation.
    "１２７.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0.0.1",
    "𝟙𝟚𝟟.0.0.1",
    "0ｘ7f.1",
    "lo\u{ad}calhost",
    "ⓛocalhost",
    "LOCALHOST",
    "localhost",
    "localhost.",
    "a.localhost",
    // And of IPv6.
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000::0001]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2002:7f00:0001::1]",
    "[2001:0:7f00:1::]",
    "[2001:0000:4136:e378:8000:63bf:80ff:fffe]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00::1]",
    "[fd00:ec2::254]",
    "[fd20:ce::254]",
    "[ff02::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[2606:4700::5efe:7f00:1]",
    "[::ffff:0.0.0.0]",
    "[::ffff:10.0.0.1]",
    "[::ffff:192.168.0.1]",
    // Private, shared, reserved, documentation, benchmark, multicast, broadcast.
    "10.0.0.1",
    "10.255.255.255",
    "012.0.0.1",
    "167772161",
    "0xa000001",
    "172.16.0.1",
    "172.31.255.255",
    "2886729729",
    "192.168.1.1",
    "3232235777",
    "0xc0a80101",
    "192.168.257",
    "100.64.0.1",
    "100.127.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "4294967295",
    "0xffffffff",
    // Metadata services.
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "025177524776",
    "169.254.43518",
    "169.16689662",
    "169.254.169.254.",
    "１６９.254.169.254",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "metadata",
    "instance-data",
    // Names that lead there.
    "loopback.example",
    "private.example",
    "meta.example",
    "mapped.example",
    "mixed.example",
    "mixed-late.example",
    "v6.example",
    "unspecified.example",
    "xn--bcher-kva.example",
    "bücher.example",
    "BÜCHER.example",
    "ipv6-nat64.example",
    "nothing.example",
];

/// Whole addresses.
const ADDRESSES: &[&str] = &[
    "http://user@public.example:{}/",
    "http://user:canary@public.example:{}/",
    "http://127.0.0.1:{}@public.example/",
    "http://public.example@127.0.0.1:{}/",
    "http://public.example:80@127.0.0.1:{}/",
    "http://@127.0.0.1:{}/",
    "http://:@127.0.0.1:{}/",
    "http://public.example\\@127.0.0.1:{}/",
    "http:\\\\127.0.0.1:{}\\",
    "http:/127.0.0.1:{}/",
    "http:127.0.0.1:{}/",
    "http:///127.0.0.1:{}/",
    "http:////127.0.0.1:{}/",
    "//127.0.0.1:{}/",
    "127.0.0.1:{}",
    "http://127.0.0.1:{}#@public.example/",
    "http://127.0.0.1:{}?@public.example/",
    "http://127.0.0.1:{}\\@public.example/",
    "http://127.0.0.1:{};public.example/",
    "http://public.example#@127.0.0.1:{}\n",
    " http://127.0.0.1:{}/",
    "http://127.0.0.1:{}/ ",
    "http://127.0.0.1\t:{}/",
    "http://127.0.\n0.1:{}/",
    "ht\ntp://127.0.0.1:{}/",
    "http://127.0.0.1%00.public.example:{}/",
    "http://127.0.0.1%0a:{}/",
    "http://[::1%25lo]:{}/",
    "http://[::1]%lo:{}/",
    "http://[::1:{}/",
    "http://::1:{}/",
    "http://127.0.0.1:{}:80/",
    "http://127.0.0.1:99999/",
    "http://:{}/",
    "http://",
    "http://.",
    "http://../",
    "http://256.0.0.1/",
    "http://1.2.3.4.5/",
    "http://0x/",
    "http://loopback.example.:{}/",
    "HTTP://127.0.0.1:{}/",
    "hTTps://127.0.0.1:{}/",
    "https://localhost:{}/",
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "file:/etc/passwd",
    "gopher://127.0.0.1:{}/_GET",
    "ftp://127.0.0.1:{}/",
    "dict://127.0.0.1:{}/",
    "ldap://127.0.0.1:{}/",
    "jar:http://127.0.0.1:{}!/",
    "view-source:http://127.0.0.1:{}/",
    "data:text/html,a",
    "javascript:fetch('http://127.0.0.1:{}')",
    "blob:http://127.0.0.1:{}/a",
    "ws://127.0.0.1:{}/",
    "unix:/run/docker.sock",
    "http+unix://%2Frun%2Fdocker.sock/",
    "about:blank",
    "",
    "/",
    "a b",
    "netdoc:///etc/passwd",
    "php://filter",
    "tftp://127.0.0.1:{}/",
    "sftp://127.0.0.1:{}/",
];

fn names() -> FakeNames {
    FakeNames::default()
        .with("localhost", &[&["127.0.0.1"]])
        .with("localhost.", &[&["127.0.0.1"]])
        .with("a.localhost", &[&["::1"]])
        .with("loopback.example", &[&["127.0.0.1"]])
        .with("loopback.example.", &[&["127.0.0.1"]])
        .with("private.example", &[&["10.0.0.1"]])
        .with("meta.example", &[&["169.254.169.254"]])
        .with("mapped.example", &[&["::ffff:127.0.0.1"]])
        .with("mixed.example", &[&["127.0.0.1", "8.8.8.8"]])
        .with("mixed-late.example", &[&["8.8.8.8", "2606:4700::1111", "127.0.0.1"]])
        .with("v6.example", &[&["::1"]])
        .with("unspecified.example", &[&["0.0.0.0"]])
        .with("xn--bcher-kva.example", &[&["127.0.0.1"]])
        .with("ipv6-nat64.example", &[&["64:ff9b::7f00:1"]])
        .with("nothing.example", &[&[]])
        .with("metadata", &[&["8.8.8.8"]])
        .with("metadata.google.internal", &[&["8.8.8.8"]])
        .with("metadata.google.internal.", &[&["8.8.8.8"]])
        .with("instance-data", &[&["8.8.8.8"]])
}

const ONCE: Backoff = Backoff {
    attempts_max: 1,
    pause: std::time::Duration::ZERO,
    pause_max: std::time::Duration::ZERO,
};

fn all(port: u16) -> Vec<String> {
    let hosts = HOSTS.iter().flat_map(|host| {
        [
            format!("http://{host}:{port}/"),
            format!("https://{host}:{port}/a?b"),
            format!("http://{host}/"),
        ]
    });
    let addresses = ADDRESSES.iter().map(|address| address.replace("{}", &port.to_string()));
    hosts.chain(addresses).collect()
}

/// `public.example` stands for everything public; nothing in this test may ask for it.
#[tokio::test]
async fn no_address_leads_inside() {
    let server = ModelServer::start(|_| Reply::text(200, "a secret")).await;
    let port = server.address().port();
    assert!(HOSTS.len() + ADDRESSES.len() >= 150, "{}", HOSTS.len() + ADDRESSES.len());
    let dialer =
        Setting { names: names(), allow: &[], backoff: ONCE, ..Setting::default() }.dialer();
    for address in all(port) {
        let refused = get(&dialer, &address).await.unwrap_err();
        let inside = address.contains("nothing.example");
        assert!(
            inside || matches!(refused, DialError::Address(_) | DialError::Forbidden { .. }),
            "{address:?}: {refused:?}"
        );
        assert!(!refused.to_string().contains("canary"), "{refused}");
    }
    assert_eq!(server.requests(), []);
}

/// The target of a redirect is looked at like the first address.
#[tokio::test]
async fn no_redirect_leads_inside_cve_2026_45401() {
    let inside = ModelServer::start(|_| Reply::text(200, "a secret")).await;
    let tricks: Vec<String> = all(inside.address().port())
        .into_iter()
        // What a header cannot hold, and what is a path on the same server.
        .filter(|address| !address.contains('\n'))
        .filter(|address| address.trim().contains(':') || address.starts_with("//"))
        .filter(|address| !address.starts_with("http:/1") && !address.starts_with("http:1"))
        .collect();
    let count = tricks.len();
    let (at, status) = (AtomicUsize::new(0), [301, 302, 303, 307, 308]);
    let server = ModelServer::start(move |_| {
        let at = at.fetch_add(1, Ordering::Relaxed);
        Reply::text(status[at % 5], "").header("Location", &tricks[at])
    })
    .await;
    // Only the address of the outer server is allowed: 127.0.0.1 would let everything in.
    let names = names().with("outside.example", &[&["127.0.0.9"]]);
    let forward = forwarded(server.address()).await;
    let setting = Setting { names, allow: &["127.0.0.9/32"], backoff: ONCE, ..Setting::default() };
    let dialer = setting.dialer();
    for _ in 0..count {
        let refused = get(&dialer, &format!("http://outside.example:{}/", forward.port)).await;
        let refused = refused.unwrap_err();
        let asked = server.requests().len();
        assert!(
            matches!(refused, DialError::Address(_) | DialError::Forbidden { .. })
                || matches!(refused, DialError::Unreachable { .. }),
            "{asked}: {refused:?}"
        );
    }
    assert_eq!(server.requests().len(), count);
    assert_eq!(inside.requests(), []);
}

/// A listener at another address of this machine, which passes everything on.
struct Forward {
    port: u16,
    _tasks: tokio::task::JoinSet<()>,
}

async fn forwarded(to: std::net::SocketAddr) -> Forward {
    let listener = tokio::net::TcpListener::bind("127.0.0.9:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            connections.spawn(async move {
                let mut inner = tokio::net::TcpStream::connect(to).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut inner).await;
            });
        }
    });
    Forward { port, _tasks: tasks }
}

/// A name may say one thing to whoever checks and another to
/// whoever connects. Here the two are one.
#[tokio::test]
async fn a_name_that_changes_its_mind_does_not_get_in_cve_2024_12779() {
    let server = ModelServer::start(|_| Reply::text(200, "a secret").then_close()).await;
    let port = server.address().port();
    let names = FakeNames::default().with("rebind.example", &[&["127.0.0.9"], &["127.0.0.1"]]);
    let forward = forwarded(server.address()).await;
    let setting = Setting { names, allow: &["127.0.0.9/32"], backoff: ONCE, ..Setting::default() };
    let dialer = setting.dialer();
    let first = get(&dialer, &format!("http://rebind.example:{}/", forward.port)).await.unwrap();
    assert_eq!(first.body, b"a secret");
    let second = get(&dialer, &format!("http://rebind.example:{port}/")).await.unwrap_err();
    assert!(matches!(second, DialError::Forbidden { .. }), "{second:?}");
    assert_eq!(server.requests().len(), 1);
}

/// Every answer is asked for once for each connection, never a second time.
#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let server = ModelServer::start(|_| Reply::text(200, "right")).await;
    let names = FakeNames::default()
        .with("once.example", &[&["127.0.0.1"], &["169.254.169.254"], &["10.0.0.1"]]);
    let dialer = Setting { names, ..Setting::default() }.dialer();
    let address = format!("http://once.example:{}/", server.address().port());
    assert_eq!(get(&dialer, &address).await.unwrap().body, b"right");
}

/// What is allowed opens a network and nothing else.
#[tokio::test]
async fn what_is_allowed_is_a_network_and_never_metadata_cve_2024_32964() {
    let everything = &["0.0.0.0/0", "::/0"];
    let setting =
        Setting { names: names(), allow: everything, backoff: ONCE, ..Setting::default() };
    let dialer = setting.dialer();
    for never in [
        "http://169.254.169.254/latest/meta-data/",
        "http://169.254.170.2/v2/credentials",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://192.0.0.192/",
        "http://[::ffff:169.254.169.254]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[64:ff9b::169.254.169.254]/",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://meta.example/",
        "http://metadata.google.internal/",
    ] {
        let refused = get(&dialer, never).await.unwrap_err();
        assert!(matches!(refused, DialError::Forbidden { .. }), "{never}: {refused:?}");
    }
    let server = ModelServer::start(|_| Reply::text(200, "an intranet")).await;
    let port = server.address().port();
    for (allow, address, admitted) in [
        (&["127.0.0.1/32"][..], "127.0.0.1", true),
        (&["127.0.0.0/8"], "[::ffff:127.0.0.1]", true),
        (&["127.0.0.2/32"], "127.0.0.1", false),
        (&["10.0.0.0/8"], "127.0.0.1", false),
        (&["::1/128"], "127.0.0.1", false),
        (&["127.0.0.0/8"], "[2002:7f00:1::]", false),
    ] {
        let dialer = Setting { allow, backoff: ONCE, ..Setting::default() }.dialer();
        let is_admitted = dialer.policy().admit(&format!("http://{address}:{port}/")).is_ok();
        assert_eq!(is_admitted, admitted, "{allow:?} {address}");
    }
    let dialer = Arc::new(Setting::default().dialer());
    assert_eq!(
        get(&dialer, &format!("http://127.0.0.1:{port}/")).await.unwrap().body,
        b"an intranet"
    );
}
