//! The program as a child process.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Which embedding model the service gets.
pub(crate) enum Model {
    In(PathBuf),
    None,
}

/// A running service.
pub(crate) struct Service {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
}

impl Service {
    /// Starts it, and waits until it is ready.
    pub(crate) async fn start(
        trove: &Path,
        data: &Path,
        model: &Model,
        hybrid_alpha: Option<&str>,
    ) -> anyhow::Result<Self> {
        let mut command = Command::new(trove);
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--data-dir"]);
        command.arg(data).env_clear().kill_on_drop(true).stdout(Stdio::piped());
        match model {
            Model::In(dir) => command.env("TROVE_MODEL_DIR", dir),
            Model::None => command.env("TROVE__EMBEDDING__ENABLED", "false"),
        };
        if let Some(alpha) = hybrid_alpha {
            command.env("HYBRID_ALPHA", alpha);
        }
        let mut child =
            command.spawn().with_context(|| format!("{} cannot be run", trove.display()))?;
        let stdout = child.stdout.take().context("the service has an output")?;
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await? {
            if let Some(address) = line.strip_prefix("Trove is ready on http://") {
                return Ok(Self { child, address: address.to_owned() });
            }
        }
        bail!("the service ended before it was ready")
    }

    /// Memory that it holds at present.
    pub(crate) async fn resident_bytes(&self) -> anyhow::Result<u64> {
        let pid = self.child.id().context("the service runs")?.to_string();
        let output = Command::new("ps").args(["-o", "rss=", "-p", &pid]).output().await?;
        let kibibytes: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
        Ok(kibibytes * 1024)
    }

    /// Stops it as an orchestrator would.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().context("the service runs")?.to_string();
        Command::new("kill").arg(&pid).status().await?;
        let status = self.child.wait().await?;
        ensure!(status.success(), "the service ended with {status}");
        Ok(())
    }
}

/// Runs `trove index` without a model.
pub(crate) async fn index(trove: &Path, data: &Path, folder: &Path) -> anyhow::Result<()> {
    let status = Command::new(trove)
        .args(["index", "--log-level", "warn", "--data-dir"])
        .arg(data)
        .arg(folder)
        .env_clear()
        .env("TROVE__EMBEDDING__ENABLED", "false")
        .stdout(Stdio::null())
        .status()
        .await?;
    ensure!(status.success(), "`trove index` ended with {status}");
    Ok(())
}
