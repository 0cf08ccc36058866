//! A worker for programs that embed this crate; see [`trove_extract::serve_worker`].

fn main() -> std::io::Result<()> {
    trove_extract::serve_worker(std::io::stdin().lock(), std::io::stdout().lock())
}
