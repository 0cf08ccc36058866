fn main() {
    let a: Vec<String> = std::env::args().collect();
    let threads: usize = a[4].parse().unwrap();
    let _pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build().unwrap();
    trove_local::dev::run(std::path::Path::new("/work/main/target/models/all-MiniLM-L6-v2/model.safetensors"), a[1].parse().unwrap(), a[2].parse().unwrap(), a[3].parse().unwrap());
}
