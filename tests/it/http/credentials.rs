//! `/manage/credential` and `/manage/admin/credential`. The comments name the rows of the contract.

use std::fs;

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::audit::AuditAction;
use trove_domain::credential::{Credential, CredentialContent};
use trove_domain::id::CredentialId;

use crate::server::{Answer, Client, Server};

const OWN: &str = "/api/manage/credential";
const ADMIN: &str = "/api/manage/admin/credential";
const BULLETS: &str = "••••••••••••";

#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn body(content: Value) -> Value {
    json!({"credential_json": content, "admin_public": false, "source": "slack"})
}

fn with(mut body: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    body
}

async fn create(client: &Client<'_>, body: Value) -> i32 {
    let made = client.post(OWN, body).await.ok();
    assert_eq!(made["id"], made["credential"]["id"]);
    i32::try_from(made["id"].as_i64().unwrap()).unwrap()
}

/// What is stored, in the clear.
async fn stored(server: &Server, id: i32) -> Value {
    let backends = server.engine.backends();
    let found = backends.credentials.get(CredentialId(id)).await.unwrap().unwrap();
    let Some(sealed) = &found.details.secret else { return json!({}) };
    let cipher = backends.secrets.as_ref().unwrap();
    let json = cipher.open(sealed, Credential::place(found.uuid)).unwrap();
    let content = CredentialContent::from_json(&json).unwrap();
    serde_json::from_str(secrecy::ExposeSecret::expose_secret(&content.to_json())).unwrap()
}

/// Rows 27 to 29, and the whole record.
#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_shown_masked() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let content = json!({"token": "abcdefghijklmn", "n": 5, "ok": true, "x": null, "k": "short",
        "wiki_base": "https://a.example.com/wiki", "thirteen": "abcdefghijklm"});
    let made = admin.post(OWN, with(body(content.clone()), json!({"name": "Slack"}))).await.ok();
    let shown = made["credential"].clone();
    let id = i32::try_from(made["id"].as_i64().unwrap()).unwrap();
    let users = &server.engine.backends().users;
    let owner = users.get_by_email("admin@example.com").await.unwrap().unwrap().id;
    let expected = json!({
        "credential_json": {"token": "abcd...klmn", "n": "*****", "ok": true, "x": null,
            "k": BULLETS, "wiki_base": "https://a.example.com/wiki", "thirteen": BULLETS},
        "admin_public": false, "source": "slack", "id": id, "user_id": owner.to_string(),
        "user_email": "admin@example.com", "time_created": shown["time_created"],
        "time_updated": shown["time_created"], "name": "Slack", "curator_public": false,
        "groups": []});
    assert_eq!(shown, expected);
    for path in
        [OWN.to_owned(), ADMIN.to_owned(), ADMIN.replace("credential", "similar-credentials/slack")]
    {
        let listed = admin.get(&path).await.ok();
        assert!(listed.as_array().unwrap().contains(&expected), "{path}: {listed}");
    }
    assert_eq!(admin.get(&format!("{OWN}/{id}")).await.ok(), expected);
    assert_eq!(stored(&server, id).await, content);
    // What is shown comes back as what is stored, both ways.
    let masked = expected["credential_json"].clone();
    let sent = json!({"name": "Slack", "credential_json": masked.clone()});
    admin.put(&format!("{ADMIN}/{id}"), sent).await.ok();
    assert_eq!(stored(&server, id).await, content);
    admin.patch(&format!("{OWN}/{id}"), json!({"credential_json": masked})).await.ok();
    assert_eq!(stored(&server, id).await, content);
}

/// A mask that stands for nothing would lose a secret.
#[tokio::test(flavor = "multi_thread")]
async fn a_mask_never_overwrites_a_secret() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let id = create(&admin, body(json!({"token": "abcdefghijklmn"}))).await;
    for mask in ["zzzz...zzzz", BULLETS, "*****"] {
        let sent = json!({"name": "n", "credential_json": {"token": mask}});
        let detail = admin.put(&format!("{ADMIN}/{id}"), sent).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains("token") && !detail.contains(mask), "{detail}");
        let sent = json!({"credential_json": {"token": mask}});
        admin.patch(&format!("{OWN}/{id}"), sent).await.refused(400, "INVALID_INPUT");
        admin.post(OWN, body(json!({"token": mask}))).await.refused(400, "INVALID_INPUT");
    }
    assert_eq!(stored(&server, id).await, json!({"token": "abcdefghijklmn"}));
}

/// Rows 24 to 26.
#[tokio::test(flavor = "multi_thread")]
async fn put_merges_and_patch_replaces_and_both_take_over() {
    let server = Server::start().await;
    let owner = server.user("owner@example.com", Role::Admin).await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let id = create(&owner, with(body(json!({"a": 1})), json!({"admin_public": true}))).await;
    let put = json!({"name": "n", "credential_json": {"b": 2}});
    let shown = admin.put(&format!("{ADMIN}/{id}"), put).await.ok();
    assert_eq!(stored(&server, id).await, json!({"a": 1, "b": 2}));
    assert_eq!((&shown["name"], &shown["user_email"]), (&json!("n"), &json!("admin@example.com")));
    assert_eq!(shown["admin_public"], true);
    let patch = json!({"credential_json": {"b": 3}, "source": "web"});
    let shown = owner.patch(&format!("{OWN}/{id}"), patch).await.ok();
    assert_eq!(stored(&server, id).await, json!({"b": 3}));
    assert_eq!((&shown["name"], &shown["user_email"]), (&json!("n"), &json!("owner@example.com")));
    assert_eq!(shown["source"], "slack");
    // What is not sent stays.
    let shown = owner.patch(&format!("{OWN}/{id}"), json!({})).await.ok();
    assert_eq!((&shown["name"], &shown["admin_public"]), (&json!("n"), &json!(true)));
    let group = server.group("g", &[]).await.0;
    let fields = json!({"name": null, "admin_public": false, "curator_public": true,
        "groups": [group]});
    let shown = owner.patch(&format!("{OWN}/{id}"), fields).await.ok();
    assert_eq!(shown["name"], Value::Null);
    assert_eq!((&shown["admin_public"], &shown["curator_public"]), (&json!(false), &json!(true)));
    assert_eq!(shown["groups"], json!([group]));
    assert_eq!(stored(&server, id).await, json!({"b": 3}));
}

fn alike(foreign: &Answer, missing: &Answer, id: i32) {
    assert_eq!(foreign.status, missing.status);
    assert_eq!(foreign.text.replace(&id.to_string(), "4711"), missing.text);
}

/// Row 23: 401, and nothing tells that it is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_credential_is_like_none() {
    let server = Server::start().await;
    let owner = server.caller(Role::Admin).await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    let id = create(&owner, body(json!({"token": "abcdefghijklmn"}))).await;
    let put = || json!({"name": "n", "credential_json": {}});
    for client in [&admin, &basic] {
        let foreign = client.get(&format!("{OWN}/{id}")).await;
        let detail = foreign.refused(401, "UNAUTHENTICATED");
        assert_eq!(detail, format!("Credential {id} does not exist or does not belong to user"));
        alike(&foreign, &client.get(&format!("{OWN}/4711")).await, id);
        let foreign = client.put(&format!("{ADMIN}/{id}"), put()).await;
        foreign.refused(401, "UNAUTHENTICATED");
        alike(&foreign, &client.put(&format!("{ADMIN}/4711"), put()).await, id);
        let foreign = client.patch(&format!("{OWN}/{id}"), json!({})).await;
        foreign.refused(401, "UNAUTHENTICATED");
        alike(&foreign, &client.patch(&format!("{OWN}/4711"), json!({})).await, id);
        let foreign = client.delete(&format!("{OWN}/{id}")).await;
        foreign.refused(400, "INVALID_INPUT");
        alike(&foreign, &client.delete(&format!("{OWN}/4711")).await, id);
        assert_eq!(client.get(OWN).await.ok().as_array().unwrap().len(), 0);
    }
    // An administrator deletes any.
    let gone = admin.delete(&format!("{ADMIN}/{id}")).await.ok();
    let done = json!({"success": true, "message": "Credential deleted successfully", "data": id});
    assert_eq!(gone, done);
    let again = admin.delete(&format!("{ADMIN}/{id}")).await;
    again.refused(400, "INVALID_INPUT");
    assert!(again.json()["message"].is_string());
    admin.delete(&format!("{ADMIN}/0")).await.refused(400, "INVALID_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn curators_share_with_the_groups_they_curate() {
    let server = Server::start().await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let own = server.group("own", &[("curator@example.com", true)]).await.0;
    let foreign = server.group("foreign", &[]).await.0;
    let detail = curator.post(OWN, body(json!({}))).await.refused(400, "INVALID_INPUT");
    assert_eq!(detail, "Curators must specify 1+ groups");
    // What holds no secret is everybody's to make.
    create(&curator, with(body(json!({})), json!({"source": "web"}))).await;
    create(&curator, with(body(json!({})), json!({"curator_public": true}))).await;
    let shared = with(body(json!({})), json!({"groups": [own]}));
    let id = create(&curator, shared).await;
    let patched = curator.patch(&format!("{OWN}/{id}"), json!({"groups": [foreign]})).await;
    patched.refused(400, "INVALID_INPUT");
    let admin = server.caller(Role::Admin).await;
    let unknown = with(body(json!({})), json!({"groups": [4711]}));
    admin.post(OWN, unknown).await.refused(400, "INVALID_INPUT");
}

/// At rest, in logs and in records.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_nowhere_in_the_clear() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let id = create(&admin, body(json!({"token": "canary-0123456789"}))).await;
    let put = json!({"name": "n", "credential_json": {"other": "canary-9876543210"}});
    admin.put(&format!("{ADMIN}/{id}"), put).await.ok();
    let found = server.engine.backends().credentials.get(CredentialId(id)).await.unwrap();
    assert!(!format!("{found:?}").contains("canary"), "{found:?}");
    let entries = format!("{:?}", server.stack.audit.entries());
    assert!(entries.contains("UpdateCredential") && !entries.contains("canary"), "{entries}");
    for entry in fs::read_dir(server.stack.directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(6).any(|window| window == b"canary");
            assert!(!found, "{}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_or_no_object_is_refused() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let large = "x".repeat(Credential::CONTENT_BYTES_MAX);
    let detail = admin.post(OWN, body(json!({"k": large}))).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains("bytes"), "{detail}");
    admin
        .post(OWN, json!({"credential_json": "x", "source": "nothing", "groups": 1}))
        .await
        .invalid(&[
            "body/credential_json dict_type",
            "body/admin_public missing",
            "body/source enum",
            "body/groups list_type",
        ]);
    let similar = ADMIN.replace("credential", "similar-credentials/canvas");
    admin.get(&similar).await.invalid(&["path/source_type enum"]);
}

/// A PKCS#12 archive with a self-signed certificate; its password is not known here.
const PFX: &[u8] = include_bytes!("../fixtures/key.pfx");

fn form(parts: &[(&str, &str)], file: Option<(&str, &[u8])>) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (name, value) in parts {
        let head =
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(head.as_bytes());
    }
    if let Some((name, bytes)) = file {
        let head = format!(
            "--b\r\nContent-Disposition: form-data; name=\"uploaded_file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b--\r\n");
    ("multipart/form-data; boundary=b".to_owned(), body)
}

async fn upload(
    client: &Client<'_>,
    method: reqwest::Method,
    path: &str,
    parts: &[(&str, &str)],
    file: Option<(&str, &[u8])>,
) -> Answer {
    let (content_type, body) = form(parts, file);
    client.with("content-type", &content_type).send(method, path, Some(body)).await
}

/// Rows 30 and 31.
#[tokio::test(flavor = "multi_thread")]
async fn a_private_key_becomes_a_value() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (post, path) = (reqwest::Method::POST, format!("{OWN}/private-key"));
    let parts = [
        ("credential_json", r#"{"sp_client_id": "id", "sp_certificate_password": "wrong"}"#),
        ("source", "sharepoint"),
        ("field_key", "sp_private_key"),
        ("type_definition_key", "sharepoint_pfx_file"),
        ("name", "SharePoint"),
        ("admin_public", "true"),
    ];
    let made = upload(&admin, post.clone(), &path, &parts, Some(("key.PFX", PFX))).await.ok();
    let id = i32::try_from(made["id"].as_i64().unwrap()).unwrap();
    assert_eq!(made["credential"]["name"], "SharePoint");
    let encoded = stored(&server, id).await["sp_private_key"].as_str().unwrap().to_owned();
    assert_eq!(made["credential"]["credential_json"]["sp_private_key"].as_str().unwrap().len(), 11);
    assert_eq!(base64_decoded(&encoded), PFX);
    let recorded = server.stack.audit.entries().pop().unwrap();
    assert_eq!(recorded.action, AuditAction::CreateCredential);
    // The same with a change; the other values stay.
    let put = format!("{ADMIN}/private-key/{id}");
    let change =
        [("name", "Other"), ("credential_json", r#"{"sp_client_id": "new"}"#), parts[2], parts[3]];
    let shown =
        upload(&admin, reqwest::Method::PUT, &put, &change, Some(("k.pfx", PFX))).await.ok();
    assert_eq!(shown["name"], "Other");
    let now = stored(&server, id).await;
    assert_eq!(
        (&now["sp_client_id"], &now["sp_certificate_password"]),
        (&json!("new"), &json!("wrong"))
    );
    let foreign = server.caller(Role::Basic).await;
    upload(&foreign, reqwest::Method::PUT, &put, &change, Some(("k.pfx", PFX)))
        .await
        .refused(401, "UNAUTHENTICATED");

    for (name, bytes) in [
        ("key.pfx", &b"only a text file"[..]),
        ("key.pfx", &b"0"[..]),
        ("key.pfx", &PFX[..PFX.len() - 1]),
        ("key.txt", PFX),
        ("pfx", PFX),
    ] {
        let refused = upload(&admin, post.clone(), &path, &parts, Some((name, bytes))).await;
        refused.refused(400, "INVALID_INPUT");
    }
    let mut bad = parts;
    bad[3] = ("type_definition_key", "other");
    upload(&admin, post.clone(), &path, &bad, Some(("k.pfx", PFX)))
        .await
        .refused(400, "INVALID_INPUT");
    bad = parts;
    bad[1] = ("source", "other");
    upload(&admin, post.clone(), &path, &bad, Some(("k.pfx", PFX)))
        .await
        .refused(400, "INVALID_INPUT");
    bad = parts;
    bad[0] = ("credential_json", "[1]");
    let refused = upload(&admin, post.clone(), &path, &bad, Some(("k.pfx", PFX))).await;
    assert!(refused.refused(400, "INVALID_INPUT").starts_with("Invalid JSON in credential_json"));
    upload(&admin, post.clone(), &path, &[("groups", "x")], None).await.invalid(&[
        "body/credential_json missing",
        "body/uploaded_file missing",
        "body/field_key missing",
        "body/type_definition_key missing",
        "body/source missing",
        "body/groups/0 int_parsing",
    ]);
    let huge = vec![0; 1024 * 1024];
    upload(&admin, post, &path, &parts, Some(("k.pfx", &huge)))
        .await
        .refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(admin.get(OWN).await.ok().as_array().unwrap().len(), 1);
}

fn base64_decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}
