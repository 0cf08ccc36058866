//! The real program as a child process: started, waited for by what it prints, killed.

use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than anything takes, also on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// What the first line of a service that is ready begins with.
const READY: &str = "Trove is ready on ";

/// The program with its arguments. It sees nothing of our environment, and no model.
pub(crate) fn trove(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trove"));
    isolate(&mut command);
    command.args(arguments);
    command
}

/// Without the settings of whoever runs the tests, and killed with them.
pub(crate) fn isolate(command: &mut Command) {
    command.env_clear().env("TROVE__EMBEDDING__ENABLED", "false").kill_on_drop(true);
    command.stdin(Stdio::null());
}

/// Runs a command to its end.
pub(crate) async fn run(mut command: Command) -> Output {
    timeout(PATIENCE, command.output()).await.expect("the command ends").expect("it starts")
}

/// Standard error of a command that has to end with `code`.
pub(crate) async fn refused(command: Command, code: i32) -> String {
    let output = run(command).await;
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{error}");
    assert!(
        error.lines().last().unwrap_or_default().starts_with("error: ") || code == 2,
        "{error}"
    );
    assert!(!error.contains("panicked") && !error.contains("backtrace"), "{error}");
    error
}

/// A running service.
pub(crate) struct Service {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Arc<Mutex<String>>,
    draining: JoinHandle<()>,
    /// What it printed before it was ready.
    pub(crate) printed: Vec<String>,
    /// `http://127.0.0.1:PORT`
    pub(crate) address: String,
    /// The administrator's key.
    pub(crate) key: String,
    pub(crate) client: Client,
}

impl Service {
    /// Starts the service on `data_dir` and a free port.
    pub(crate) async fn start(data_dir: &Path) -> Self {
        let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(data_dir);
        Self::start_with(command, data_dir).await
    }

    /// Starts the service by `command`, which has to name the directory and a port.
    pub(crate) async fn start_with(mut command: Command, data_dir: &Path) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let (stderr, draining) = collect(child.stderr.take().unwrap());
        let mut service = Self {
            child,
            stdout,
            stderr,
            draining,
            printed: Vec::new(),
            address: String::new(),
            key: String::new(),
            client: Client::builder().no_proxy().build().unwrap(),
        };
        service.address = service.until_ready().await;
        let key = std::fs::read_to_string(data_dir.join("admin-key")).expect("there is a key");
        key.trim().clone_into(&mut service.key);
        service
    }

    async fn until_ready(&mut self) -> String {
        loop {
            let line = timeout(PATIENCE, self.stdout.next_line()).await.expect("it gets ready");
            match line.unwrap() {
                Some(line) => match line.strip_prefix(READY) {
                    Some(address) => return address.to_owned(),
                    None => self.printed.push(line),
                },
                None => panic!("the service ended: {}", self.log()),
            }
        }
    }

    /// What it has written to standard error.
    pub(crate) fn log(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Sends a signal by its name, as the shell knows it.
    pub(crate) async fn signal(&self, signal: &str) {
        let pid = self.pid().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status().await.unwrap();
        assert!(sent.success());
    }

    /// Waits for the end.
    pub(crate) async fn ended(mut self) -> (ExitStatus, String) {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it ends").unwrap();
        self.draining.await.unwrap();
        let log = self.stderr.lock().unwrap().clone();
        (status, log)
    }

    /// `kill -9`, and waits until it is gone.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> reqwest::Result<Response> {
        let url = format!("{}{path}", self.address);
        self.client.post(url).bearer_auth(&self.key).json(body).send().await
    }

    pub(crate) async fn get(&self, path: &str) -> reqwest::Result<Response> {
        let url = format!("{}{path}", self.address);
        self.client.get(url).bearer_auth(&self.key).send().await
    }

    /// Posts a document; whether it was acknowledged.
    pub(crate) async fn ingest(&self, id: &str, texts: &[String]) -> reqwest::Result<StatusCode> {
        let answer = self.post("/api/ingestion", &document(id, texts)).await?;
        let status = answer.status();
        answer.bytes().await?;
        Ok(status)
    }

    /// Searches; the results.
    pub(crate) async fn search(&self, query: &str) -> Vec<Value> {
        let answer = self.post("/api/search", &json!({ "query": query })).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let body: Value = answer.json().await.unwrap();
        body["results"].as_array().unwrap().clone()
    }
}

/// A document as the ingestion interface takes it, one section for each text.
pub(crate) fn document(id: &str, texts: &[String]) -> Value {
    let sections: Vec<Value> = texts.iter().map(|text| json!({ "text": text })).collect();
    json!({ "document": { "id": id, "semantic_identifier": id, "sections": sections, "metadata": {} } })
}

fn collect(
    mut stream: impl tokio::io::AsyncRead + Unpin + Send + 'static,
) -> (Arc<Mutex<String>>, JoinHandle<()>) {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&text);
    let tracker = tokio_util::task::TaskTracker::new();
    let draining = tracker.spawn(async move {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            sink.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    });
    (text, draining)
}
