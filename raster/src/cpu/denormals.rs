//! Makes this thread treat denormals as zero, so that tests can show that no byte depends on it.

/// Sets flush-to-zero and denormals-are-zero where the machine has them.
pub fn flush() {
    #[cfg(target_arch = "x86_64")]
    {
        let mut control: u32 = 0;
        // SAFETY: stores and loads the SSE control word of this thread through a valid pointer. Rust assumes the
        // default word, so results of denormal operations are unspecified after this; the passes promise not to
        // depend on them, which is what is under test.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack));
            control |= 0x8040;
            std::arch::asm!("ldmxcsr [{}]", in(reg) &control, options(nostack));
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: sets the FZ bit of this thread's FPCR; see above.
        unsafe {
            let mut control: u64;
            std::arch::asm!("mrs {}, fpcr", out(reg) control);
            control |= 1 << 24;
            std::arch::asm!("msr fpcr, {}", in(reg) control);
        }
    }
}
