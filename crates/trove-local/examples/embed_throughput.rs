//! Embeds what comes in on standard input and says how long it took; driven by
//! `benches/compare_onnxruntime.py`.
//!
//! Arguments: the model's folder, the number of threads, `f32` or `int8`. Each line of input is a JSON object
//! with `texts`, and `one_by_one` (as queries) or `vectors` (wanted in the answer).

use std::io::{BufRead, Write};
use std::num::NonZero;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use trove_local::{MiniLm, MiniLmOptions, Precision};

#[derive(Deserialize)]
struct Request {
    texts: Vec<String>,
    #[serde(default)]
    one_by_one: bool,
    #[serde(default)]
    vectors: bool,
}

#[derive(Serialize)]
struct Answer {
    seconds: f64,
    median_seconds: f64,
    vectors: Vec<Vec<f32>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("the first argument is the model's folder")?;
    let threads: NonZero<usize> = arguments.next().as_deref().unwrap_or("1").parse()?;
    let precision = match arguments.next().as_deref() {
        None | Some("f32") => Precision::F32,
        Some("int8") => Precision::Int8,
        Some(other) => return Err(format!("{other} is neither f32 nor int8").into()),
    };
    let options = MiniLmOptions { bulk_threads: threads, query_threads: threads, precision };
    let model = MiniLm::load(Path::new(&dir), options)?;

    for line in std::io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let texts: Vec<&str> = request.texts.iter().map(String::as_str).collect();
        let start = Instant::now();
        let mut times = Vec::new();
        let vectors = if request.one_by_one {
            texts.iter().map(|text| timed(&mut times, || model.embed_query(text))).collect()
        } else {
            timed(&mut times, || model.embed_batch(&texts))
        };
        let seconds = start.elapsed().as_secs_f64();
        times.sort();
        let median_seconds = times[times.len() / 2].as_secs_f64();
        let vectors = if request.vectors { vectors } else { Vec::new() };
        let answer = serde_json::to_string(&Answer { seconds, median_seconds, vectors })?;
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(())
}

fn timed<T>(times: &mut Vec<Duration>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    times.push(start.elapsed());
    result
}
