//! Adapters that tests run on.

use isoframe_raster::gpu::{AdapterChoice, AdapterInfo, Gpu, GpuSettings, adapters};

/// All adapters of this machine, opened and probed. None is said loudly, and fails where
/// `ISOFRAME_REQUIRE_ADAPTERS` (names, `,` between) asks for one that is absent.
pub fn opened() -> Vec<Gpu> {
    let found = adapters();
    let required = std::env::var("ISOFRAME_REQUIRE_ADAPTERS").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        let titles: Vec<_> = found.iter().map(AdapterInfo::title).collect();
        assert!(found.iter().any(|info| info.is_named(name)), "{name} is required, there are {titles:?}");
    }
    if found.is_empty() {
        eprintln!("SKIPPED: no adapter on this machine (ops/drivers/install.sh brings software ones)");
    }
    found
        .iter()
        .map(|info| {
            let name = format!("{}:{}", info.backend, info.name);
            Gpu::open(&AdapterChoice::Named(name), GpuSettings::default())
                .unwrap_or_else(|error| panic!("{}: {error}", info.title()))
        })
        .collect()
}
