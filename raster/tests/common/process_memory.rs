//! Memory of a process as the system tells it, and whether it grows.

/// Resident memory of a process, by its id or `self`. *Units*: bytes. None where the system does not tell.
pub fn resident_bytes(process: &str) -> Option<u64> {
    field(process, "VmRSS:")
}

/// The most that was resident since [`restart_peak`]. *Units*: bytes.
pub fn peak_bytes(process: &str) -> Option<u64> {
    field(process, "VmHWM:")
}

/// Counts the peak from here. Where the system refuses, the peak is older, and with it larger.
pub fn restart_peak(process: &str) {
    let _ = std::fs::write(format!("/proc/{process}/clear_refs"), "5");
}

fn field(process: &str, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok();
    let value = status.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix(name)));
    let Some(value) = value.and_then(|value| value.trim().strip_suffix(" kB")?.parse::<u64>().ok()) else {
        eprintln!("SKIPPED: this system does not tell the memory of a process");
        return None;
    };
    Some(value * 1024)
}

/// CASES B32: memory may grow by this in 1000 frames. *Units*: bytes.
pub const SLOPE_BYTES: f64 = 1e6;

/// Growth in 1000 frames: the median slope between any two samples (Theil and Sen), which single jumps of an
/// allocator do not move. *Units*: frames and bytes in, bytes out.
pub fn slope_bytes(samples: &[(usize, u64)]) -> f64 {
    let pairs = samples.iter().enumerate().flat_map(|(k, a)| samples[k + 1..].iter().map(move |b| (a, b)));
    let mut slopes: Vec<f64> =
        pairs.map(|(a, b)| (b.1 as f64 - a.1 as f64) * 1000.0 / (b.0 - a.0) as f64).collect();
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len() / 2).copied().expect("two samples or more")
}
