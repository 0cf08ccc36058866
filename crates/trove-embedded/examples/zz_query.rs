#[path = "../benches/corpus/mod.rs"]
mod corpus;
use trove_domain::port::DocumentIndex;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap()
}
fn proc_cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(") ").next().unwrap().split(' ').collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) * 10.0
}
#[allow(clippy::disallowed_methods)]
#[tokio::main]
async fn main() {
    let a: Vec<String> = std::env::args().collect();
    let alpha: f32 = a[2].parse().unwrap();
    let n: usize = a[3].parse().unwrap();
    let corpus = corpus::Corpus::new(true);
    let dims = (alpha > 0.0).then_some(384);
    let index =
        EmbeddedDocumentIndex::open(a[1].as_ref(), EmbeddedIndexConfig::with_dimensions(dims))
            .unwrap();
    let t = std::time::Instant::now();
    loop {
        let c = proc_cpu();
        std::thread::sleep(std::time::Duration::from_secs(2));
        if proc_cpu() - c < 30.0 {
            break;
        }
    }
    println!("idle after {:?} cpu {} s", t.elapsed(), proc_cpu() / 1000.0);
    let c0 = proc_cpu();
    let mut l = vec![];
    let mut hits = 0;
    for i in 0..n {
        let mut q = corpus.query(i, alpha);
        if dims.is_none() {
            q.vector = None;
        }
        let t = std::time::Instant::now();
        hits += index.search(&q).await.unwrap().len();
        l.push(t.elapsed());
    }
    l.sort();
    println!(
        "alpha {alpha} cpu/query {:.3} ms, hits {}, wall p50 {:?} p90 {:?} p99 {:?}",
        (proc_cpu() - c0) / n as f64,
        hits / n,
        l[n / 2],
        l[n * 9 / 10],
        l[n * 99 / 100]
    );
    let _ = cpu();
}
