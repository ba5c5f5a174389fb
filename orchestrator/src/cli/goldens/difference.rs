//! The difference of two pictures, made visible.

use image::{ImageFormat, RgbaImage};

use super::super::exit::Failure;

/// How two pictures differ.
#[derive(Debug)]
pub(crate) struct Difference {
    /// PNG: grey where both are alike, red where they are not, brighter with the amount.
    pub png: Vec<u8>,
    /// Pixels that differ in any channel, alpha too; all of them where the sizes differ.
    pub pixel_count: u64,
    /// Largest difference of any channel, in steps of 8 bit.
    pub largest: u8,
}

/// Compares two PNG files pixel by pixel.
pub(crate) fn of(expected: &[u8], actual: &[u8]) -> Result<Difference, Failure> {
    let expected = decode(expected)?;
    let actual = decode(actual)?;
    let (width, height) = actual.dimensions();
    let alike_in_size = expected.dimensions() == (width, height);
    let mut picture = RgbaImage::new(width, height);
    let (mut pixel_count, mut largest) = (0, 0);
    for (x, y, shown) in picture.enumerate_pixels_mut() {
        let now = actual.get_pixel(x, y).0;
        let steps = match alike_in_size {
            true => {
                let before = expected.get_pixel(x, y).0;
                (0..4).map(|channel| now[channel].abs_diff(before[channel])).max().unwrap_or(0)
            }
            false => u8::MAX,
        };
        largest = largest.max(steps);
        let grey = ((u32::from(now[0]) + u32::from(now[1]) + u32::from(now[2])) / 12) as u8;
        shown.0 = match steps {
            0 => [grey, grey, grey, 255],
            _ => [128 + steps / 2, grey / 2, grey / 2, 255],
        };
        pixel_count += u64::from(steps > 0);
    }
    let mut png = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png).map_err(Failure::fault)?;
    Ok(Difference { png: png.into_inner(), pixel_count, largest })
}

fn decode(png: &[u8]) -> Result<RgbaImage, Failure> {
    let picture = image::load_from_memory_with_format(png, ImageFormat::Png);
    picture
        .map(|picture| picture.to_rgba8())
        .map_err(|error| Failure::bad_input(format!("golden picture: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(pixels: &[[u8; 4]], width: u32) -> Vec<u8> {
        let height = pixels.len() as u32 / width;
        let picture =
            RgbaImage::from_raw(width, height, pixels.as_flattened().to_vec()).expect("the right length");
        let mut png = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut png, ImageFormat::Png).expect("written");
        png.into_inner()
    }

    #[test]
    fn every_kind_of_difference_counts() {
        let before = png(&[[10, 20, 30, 255], [0, 0, 0, 0]], 2);
        for (what, after, count, largest) in [
            ("the same", png(&[[10, 20, 30, 255], [0, 0, 0, 0]], 2), 0, 0),
            ("one step", png(&[[10, 20, 31, 255], [0, 0, 0, 0]], 2), 1, 1),
            ("alpha only", png(&[[10, 20, 30, 255], [0, 0, 0, 9]], 2), 1, 9),
            ("another size", png(&[[10, 20, 30, 255], [0, 0, 0, 0]], 1), 2, 255),
        ] {
            let difference = of(&before, &after).expect("comparable");
            assert_eq!((difference.pixel_count, difference.largest), (count, largest), "{what}");
        }
    }
}
