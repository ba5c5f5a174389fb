//! Kinds of scenes, one function each.

mod interior;
mod outdoors;
mod studio;

use super::rng::Rng;
use super::stage::Stage;

/// A kind of scene.
pub(super) struct Kind {
    pub name: &'static str,
    pub make: fn(&mut Stage, &mut Rng),
}

const fn kind(name: &'static str, make: fn(&mut Stage, &mut Rng)) -> Kind {
    Kind { name, make }
}

/// The round of kinds. Neighbours differ, so that short runs of seeds are varied too.
pub(super) const KINDS: [Kind; 24] = [
    kind("window sun", interior::window_sun),
    kind("garden", outdoors::garden),
    kind("lamp behind a screen", interior::behind_screen),
    kind("turntable", studio::turntable),
    kind("light from the next room", interior::next_room),
    kind("night street", outdoors::night_street),
    kind("tiny lamps", interior::tiny_lamps),
    kind("caustics", studio::caustics),
    kind("blinds", interior::blinds),
    kind("terrain", outdoors::terrain),
    kind("cove", interior::cove),
    kind("materials", studio::material_row),
    kind("many lights", interior::many_lights),
    kind("courtyard", outdoors::courtyard),
    kind("office", interior::office),
    kind("machine", studio::machine),
    kind("skylight", interior::skylight),
    kind("pergola", outdoors::pergola),
    kind("evening lamp", interior::evening),
    kind("jewels", studio::jewels),
    kind("daylight room", interior::daylight),
    kind("city", outdoors::city),
    kind("box", studio::cornell),
    kind("wires", studio::wires),
];

/// Lights that are hard to sample: at least a third of all scenes have one of these tags.
pub(super) const HARD: [&str; 6] =
    ["indirect", "tiny_lights", "sun_gap", "many_lights", "caustic", "sky_portal"];
