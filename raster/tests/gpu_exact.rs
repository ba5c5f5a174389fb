//! The exact functions on every adapter, bit by bit against Rust: 262,144 vectors each.
#![cfg(feature = "gpu")]

#[path = "common/adapters.rs"]
mod adapters;

#[test]
fn every_adapter_computes_what_rust_computes() {
    for gpu in adapters::opened() {
        let report = gpu.sweep(16).expect("the device answers");
        assert!(report.failed.is_empty(), "{}: {:?}", gpu.name(), report.failed);
        eprintln!(
            "{}: same bits; plain products {}",
            gpu.name(),
            if report.fuses { "differ" } else { "too" }
        );
    }
}
