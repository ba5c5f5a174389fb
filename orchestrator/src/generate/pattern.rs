//! Patterns on a square that tiles: what a texture shows, how high it stands, how rough it is.

use super::noise::{cell, tiled_fbm};
use super::rng::Rng;

/// A pattern and its counts, all whole, so that it repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pattern {
    Checker { count: u32 },
    Stripes { count: u32, slant: u32 },
    Noise { cells: u32 },
    Bricks { columns: u32, rows: u32 },
    Tiles { count: u32 },
    Windows { count: u32 },
    Wood { planks: u32 },
    Marks { rows: u32 },
    Weave { count: u32 },
    Marble { cells: u32 },
    Scratches { count: u32 },
    Dots { count: u32 },
}

/// A point of a pattern, each in 0..1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Texel {
    /// Between the two colours.
    pub mix: f64,
    pub height: f64,
    pub rough: f64,
}

impl Pattern {
    pub(super) fn any(rng: &mut Rng) -> Pattern {
        match rng.int(0, 10) {
            0 => Pattern::Checker { count: rng.int(2, 8) * 2 },
            1 => Pattern::Stripes { count: rng.int(3, 16), slant: rng.int(0, 2) * 4 },
            2 => Pattern::Noise { cells: rng.int(3, 12) },
            3 => Pattern::Bricks { columns: rng.int(3, 6), rows: rng.int(4, 7) * 2 },
            4 => Pattern::Tiles { count: rng.int(3, 8) },
            5 => Pattern::Wood { planks: rng.int(2, 8) },
            6 => Pattern::Marks { rows: rng.int(8, 24) },
            7 => Pattern::Weave { count: rng.int(12, 32) * 2 },
            8 => Pattern::Marble { cells: rng.int(2, 5) },
            9 => Pattern::Scratches { count: rng.int(40, 120) },
            _ => Pattern::Dots { count: rng.int(4, 12) },
        }
    }

    /// The point at (u, v), both in 0..1.
    pub(super) fn at(self, seed: u64, u: f64, v: f64) -> Texel {
        let grain = tiled_fbm(seed, u, v, 8);
        match self {
            Pattern::Checker { count } => {
                let square = (grid(u, count).0 + grid(v, count).0) % 2;
                Texel { mix: square as f64, height: 0.5, rough: 0.3 + 0.4 * grain }
            }
            Pattern::Stripes { count, slant } => {
                let (_, across) = grid(u + v * f64::from(slant) / f64::from(count), count);
                Texel { mix: step(0.5, across), height: 0.5 + 0.1 * grain, rough: 0.4 + 0.2 * grain }
            }
            Pattern::Noise { cells } => {
                let mix = tiled_fbm(seed ^ 1, u, v, cells);
                Texel {
                    mix: sharpen(mix, 2.5),
                    height: mix,
                    rough: sharpen(tiled_fbm(seed ^ 2, u, v, cells), 2.0),
                }
            }
            Pattern::Bricks { columns, rows } => bricks(seed, u, v, columns, rows, grain),
            Pattern::Tiles { count } => {
                let ((x, fx), (y, fy)) = (grid(u, count), grid(v, count));
                let inside = edge(fx, 0.03) * edge(fy, 0.03);
                let own = cell(seed, x, y);
                Texel {
                    mix: inside * (0.75 + 0.25 * own),
                    height: inside * (0.9 + 0.05 * own),
                    rough: 0.9 - 0.75 * inside + 0.15 * grain,
                }
            }
            Pattern::Windows { count } => {
                let ((x, fx), (y, fy)) = (grid(u, count), grid(v, count));
                let inside = step((fx - 0.5).abs(), 0.28) * step((fy - 0.5).abs(), 0.36);
                let own = cell(seed, x, y);
                Texel { mix: inside * (0.7 + 0.3 * own), height: 1.0 - inside, rough: 0.9 - 0.8 * inside }
            }
            Pattern::Wood { planks } => wood(seed, u, v, planks),
            Pattern::Marks { rows } => marks(seed, u, v, rows, grain),
            Pattern::Weave { count } => {
                let ((x, fx), (y, fy)) = (grid(u, count), grid(v, count));
                let (across, along) = if (x + y) % 2 == 0 { (fx, fy) } else { (fy, fx) };
                let round = 4.0 * across * (1.0 - across) * (0.6 + 1.6 * along * (1.0 - along));
                Texel { mix: round.min(1.0), height: round.min(1.0), rough: 0.75 + 0.2 * grain }
            }
            Pattern::Marble { cells } => {
                let warp = tiled_fbm(seed ^ 4, u, v, cells);
                let vein =
                    1.0 - (2.0 * tiled_fbm(seed ^ 5, u, v, cells) - 1.0 + 0.4 * (warp - 0.5)).abs() * 6.0;
                Texel { mix: vein.max(0.0), height: 0.5, rough: 0.15 + 0.2 * warp }
            }
            Pattern::Scratches { count } => {
                let (line, _) = grid(v, count);
                let own = cell(seed, line, 0);
                let wear = tiled_fbm(seed ^ 6, u, v, 4);
                Texel {
                    mix: 0.3 * own + 0.5 * grain,
                    height: 0.4 + 0.2 * own,
                    rough: 0.15 + 0.3 * own + 0.4 * wear,
                }
            }
            Pattern::Dots { count } => {
                let ((_, fx), (_, fy)) = (grid(u, count), grid(v, count));
                let (x, y) = (fx - 0.5, fy - 0.5);
                let inside = step(x * x + y * y, 0.09);
                Texel { mix: inside, height: 0.3 + 0.5 * inside, rough: 0.3 + 0.3 * inside }
            }
        }
    }
}

/// Which of `count` cells a coordinate is in, and where in it.
fn grid(at: f64, count: u32) -> (i64, f64) {
    let at = (at - at.floor()) * f64::from(count);
    (at.floor() as i64, at - at.floor())
}

fn step(at: f64, limit: f64) -> f64 {
    if at < limit { 1.0 } else { 0.0 }
}

/// 0 at the borders of a cell, 1 from twice `width` on.
fn edge(at: f64, width: f64) -> f64 {
    ((at.min(1.0 - at) - width * 0.5) / width).max(0.0).min(1.0)
}

fn sharpen(value: f64, by: f64) -> f64 {
    ((value - 0.5) * by + 0.5).max(0.0).min(1.0)
}

/// Running bond: every second row is moved by half a brick.
fn bricks(seed: u64, u: f64, v: f64, columns: u32, rows: u32, grain: f64) -> Texel {
    let (row, fy) = grid(v, rows);
    let shift = if row % 2 == 0 { 0.0 } else { 0.5 / f64::from(columns) };
    let (column, fx) = grid(u + shift, columns);
    let inside = edge(fx, 0.03) * edge(fy, 0.06);
    let own = cell(seed, column, row);
    Texel {
        mix: inside * (0.55 + 0.45 * own) * (0.7 + 0.6 * (grain - 0.3)),
        height: inside * (0.7 + 0.15 * own) + 0.3 * grain,
        rough: 0.95 - 0.25 * inside * own,
    }
}

/// Planks along v, each with rings of its own.
fn wood(seed: u64, u: f64, v: f64, planks: u32) -> Texel {
    let (plank, across) = grid(u, planks);
    let own = cell(seed, plank, 7);
    let stretch = tiled_fbm(seed ^ plank as u64, u * 8.0, v + own, 2);
    let rings = 0.5 + 0.5 * libm::sin(60.0 * stretch + 4.0 * across + 9.0 * own);
    let fibre = tiled_fbm(seed ^ 3, u * 24.0, v, 3);
    let inside = edge(across, 0.02);
    Texel {
        mix: inside * (0.15 + 0.35 * own + 0.3 * rings + 0.3 * fibre),
        height: inside * (0.7 + 0.2 * fibre),
        rough: 0.35 + 0.3 * fibre + 0.2 * (1.0 - inside),
    }
}

/// Rows of words without meaning: glyphs are 3×5 random dots, mirrored as letters often are.
fn marks(seed: u64, u: f64, v: f64, rows: u32, grain: f64) -> Texel {
    let (row, fy) = grid(v, rows);
    let (column, fx) = grid(u, rows * 2);
    let word = cell(seed, column / 5, row) > 0.15 && column % 5 != 4;
    let margin = column < 2 || column >= i64::from(rows) * 2 - 2 || row == 0 || row == i64::from(rows) - 1;
    let (x, y) = ((fx * 5.0) as i64 - 1, (fy * 9.0) as i64 - 2);
    let glyph = (0..3).contains(&x) && (0..5).contains(&y);
    let dot = cell(seed ^ 8, column * 4 + (1 - (x - 1).abs()), row * 8 + y) > 0.42;
    let ink = if word && !margin && glyph && dot { 1.0 } else { 0.0 };
    Texel { mix: ink, height: 0.5, rough: 0.55 + 0.2 * grain - 0.2 * ink }
}
