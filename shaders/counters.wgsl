// How much each list holds, or would hold were there room: the host makes room and renders again.

// Twin of Counters in raster/src/gpu/layout.rs.
struct Counters {
    setups: atomic<u32>,
    clipped: atomic<u32>,
    large: atomic<u32>,
    items: atomic<u32>,
    pairs: atomic<u32>,
    active_tiles: atomic<u32>,
    blank_tiles: atomic<u32>,
    padding: u32,
}
