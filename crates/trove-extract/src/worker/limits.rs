//! What a worker forbids itself.

use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files: the three of every process, the one that is read, and a few to spare.
#[cfg(unix)]
const OPEN_FILES: u64 = 32;

/// Forbids more than `memory` bytes above what the process has, writing files, and dumps of what was
/// in memory. A limit that the system refuses is left out: the others still hold.
#[cfg(unix)]
pub(super) fn set_once(memory: u64) {
    // Other systems than Linux do not enforce it.
    if let Some(present) = address_space() {
        limit(Resource::As, present.saturating_add(memory));
    }
    limit(Resource::Fsize, 0);
    limit(Resource::Core, 0);
    limit(Resource::Nofile, OPEN_FILES);
}

#[cfg(not(unix))]
pub(super) fn set_once(_: u64) {}

/// Ends the process when the next file takes more time of a processor than this, to the second.
#[cfg(unix)]
pub(super) fn allow_processor_time(time: Duration) {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).tv_sec;
    let used = u64::try_from(used).unwrap_or(0);
    // The system counts whole seconds, and one of them has begun: it may be up to a second less.
    let until = used.saturating_add(time.as_secs().max(1));
    let maximum = getrlimit(Resource::Cpu).maximum;
    // What cannot be set is watched from outside.
    let _ = setrlimit(Resource::Cpu, Rlimit { current: Some(until), maximum });
}

#[cfg(not(unix))]
pub(super) fn allow_processor_time(_: Duration) {}

#[cfg(unix)]
fn limit(resource: Resource, most: u64) {
    let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
}

/// Bytes of address space in use.
#[cfg(unix)]
fn address_space() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = counts.split(' ').next()?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}
