//! Random names for requests and jobs.

use std::fmt::Write;

/// `bytes` random bytes, hex. Without a random source from the system, the clock and a counter still make
/// names that do not repeat in this process.
fn random_hex(bytes: usize) -> String {
    let mut random = [0_u8; 32];
    let random = &mut random[..bytes.min(32)];
    if getrandom::fill(random).is_err() {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let seed = [crate::store::now_ms() as u64, COUNTER.fetch_add(1, Ordering::Relaxed)];
        blake3::Hasher::new().update(bytemuck::cast_slice(&seed)).finalize_xof().fill(random);
    }
    random.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Names a request.
pub(crate) fn request_id() -> String {
    random_hex(8)
}

/// Names a job; cannot be guessed.
pub(crate) fn job_id() -> String {
    random_hex(16)
}
