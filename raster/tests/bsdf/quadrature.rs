//! Integrals over directions, in f64.

use std::f64::consts::{PI, TAU};

pub type Direction = [f64; 3];

pub fn dot(a: Direction, b: Direction) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn unit(v: Direction) -> Direction {
    let length = dot(v, v).sqrt();
    v.map(|x| x / length)
}

/// The direction to a viewer whose cosine is `z`, `turn` of a turn about the normal.
pub fn viewer(z: f64, turn: f64) -> Direction {
    let sine = (1.0 - z * z).sqrt();
    [sine * (TAU * turn).cos(), sine * (TAU * turn).sin(), z]
}

fn ggx(alpha: f64, z: f64) -> f64 {
    let q = z * z * (alpha * alpha - 1.0) + 1.0;
    alpha * alpha / (PI * q * q)
}

/// Integrates over all directions what may have a peak where facets of one of `alphas` reflect the viewer, above
/// the surface or mirrored in it, or along the horizon, and is smooth elsewhere: midpoints of the unit square, mapped
/// to cosines, to cosines p^2 and to the facets, each weighted by its share of the densities.
pub fn integrate<const N: usize>(
    view: Direction,
    alphas: &[f64],
    side: u32,
    mirrored: bool,
    f: impl Fn(Direction) -> [f64; N],
) -> [f64; N] {
    let facet_density = |alpha: f64, light: Direction| {
        let half = unit([light[0] + view[0], light[1] + view[1], light[2] + view[2]]);
        ggx(alpha, half[2]) * half[2] / (4.0 * dot(view, half))
    };
    let density = |light: Direction| {
        let horizon = 1.0 / (2.0 * TAU * light[2].sqrt());
        light[2] / PI + horizon + alphas.iter().map(|&alpha| facet_density(alpha, light)).sum::<f64>()
    };
    let mut sum = [0.0; N];
    let mut add = |light: Direction| {
        if light[2] <= 0.0 {
            return;
        }
        let weight = 1.0 / (density(light) * f64::from(side * side));
        let sides: &[f64] = if mirrored { &[1.0, -1.0] } else { &[1.0] };
        for sign in sides {
            let value = f([light[0], light[1], sign * light[2]]);
            for k in 0..N {
                sum[k] += value[k] * weight;
            }
        }
    };
    for i in 0..side {
        let u = (f64::from(i) + 0.5) / f64::from(side);
        for j in 0..side {
            let phi = TAU * (f64::from(j) + 0.5) / f64::from(side);
            add([u.sqrt() * phi.cos(), u.sqrt() * phi.sin(), (1.0 - u).sqrt()]);
            let (z, sine) = (u * u, (1.0 - u.powi(4)).sqrt());
            add([sine * phi.cos(), sine * phi.sin(), z]);
            for &alpha in alphas {
                let z2 = (1.0 - u) / (1.0 + (alpha * alpha - 1.0) * u);
                let sine = (1.0 - z2).sqrt();
                let half = [sine * phi.cos(), sine * phi.sin(), z2.sqrt()];
                let v_dot_h = dot(view, half);
                if v_dot_h > 0.0 {
                    add([0, 1, 2].map(|k| 2.0 * v_dot_h * half[k] - view[k]));
                }
            }
        }
    }
    sum
}
