//! Prints the interface's document: `cargo run -p trove-http --example openapi > docs/openapi.json`.

#[expect(clippy::print_stdout, reason = "that is what it is for")]
fn main() -> Result<(), serde_json::Error> {
    println!("{}", trove_http::openapi().to_pretty_json()?);
    Ok(())
}
