//! Textures, samplers and images.

use rayon::prelude::*;

use super::error::{SceneError, quote};
use super::file::get;
use super::limits::within;
use super::reader::Reader;
use super::{Image, Texture, Wrap, json};
use crate::image::{self, ImageError, PixelBudget};

/// Textures of the file as materials see them.
pub(crate) struct Textures {
    /// By glTF texture index: the sampled texture before images are known, `None` where it has no usable image.
    sampled: Vec<Option<Texture>>,
    /// By glTF texture index: position in the scene once used.
    used: Vec<Option<u32>>,
    /// Scene textures so far; `image` still is a glTF image index.
    pub list: Vec<Texture>,
}

impl Textures {
    /// Checks all textures and samplers.
    pub fn read(reader: &mut Reader<'_, '_>) -> Result<Textures, SceneError> {
        let root = reader.root;
        for (index, sampler) in root.samplers.iter().enumerate() {
            sampled(index, sampler, 0)?;
        }
        let mut textures = Vec::with_capacity(root.textures.len());
        for (index, texture) in root.textures.iter().enumerate() {
            textures.push(read_texture(reader, index, texture)?);
        }
        Ok(Textures { used: vec![None; textures.len()], sampled: textures, list: Vec::new() })
    }

    /// The scene texture for glTF texture `index`; `None` where it has no image.
    pub fn use_texture(&mut self, index: json::Index, what: &str) -> Result<Option<u32>, SceneError> {
        let Some(texture) = *get(&self.sampled, index, "texture", || what.into())? else {
            return Ok(None);
        };
        let slot = &mut self.used[index as usize];
        if slot.is_none() {
            *slot = Some(self.list.len() as u32);
            self.list.push(texture);
        }
        Ok(*slot)
    }

    /// Reads all images, decodes those in use, and points the textures at them.
    pub fn finish(mut self, reader: &mut Reader<'_, '_>) -> Result<(Vec<Texture>, Vec<Image>), SceneError> {
        let mut position = vec![None; reader.root.images.len()];
        let mut used = Vec::new();
        for texture in &mut self.list {
            let slot = &mut position[texture.image as usize];
            let image = *slot.get_or_insert_with(|| {
                used.push(texture.image);
                used.len() as u32 - 1
            });
            texture.image = image;
        }
        let images = read_images(reader, &used)?;
        Ok((self.list, images))
    }
}

fn read_texture(
    reader: &mut Reader<'_, '_>,
    index: usize,
    texture: &json::Texture,
) -> Result<Option<Texture>, SceneError> {
    let root = reader.root;
    let what = format!("texture {index}");
    let default = json::Sampler::default();
    let sampler = match texture.sampler {
        Some(sampler) => get(&root.samplers, sampler, "sampler", || what.clone())?,
        None => &default,
    };
    for source in texture.extensions.values().filter_map(|extension| extension.source).chain(texture.source) {
        get(&root.images, source, "image", || what.clone())?;
    }
    let basis = texture.extensions.contains_key("KHR_texture_basisu");
    let Some(image) = image_of(texture) else {
        if basis {
            return Err(SceneError::UnsupportedExtension { name: "KHR_texture_basisu".into() });
        }
        reader.note(format!("{what} has no image and is left out"));
        return Ok(None);
    };
    if basis {
        reader.note(format!("{what}: KHR_texture_basisu is not read, its fallback image is used"));
    }
    sampled(texture.sampler.unwrap_or(0) as usize, sampler, image).map(Some)
}

/// The image that is read for a texture: WebP before the core formats.
fn image_of(texture: &json::Texture) -> Option<json::Index> {
    let webp = texture.extensions.get("EXT_texture_webp").and_then(|webp| webp.source);
    webp.or(texture.source)
}

/// Images that only serve formats which are not read, by what refers to them or by their own media type.
fn foreign_images(root: &json::Root) -> Vec<bool> {
    let read = ["image/png", "image/jpeg", "image/webp"];
    let by_type = |image: &json::Image| image.mime_type.as_deref().is_some_and(|kind| !read.contains(&kind));
    let mut foreign: Vec<bool> = root.images.iter().map(by_type).collect();
    for texture in &root.textures {
        texture.extensions.values().filter_map(|e| e.source).for_each(|image| foreign[image as usize] = true);
    }
    // Also referred to as PNG, JPEG or WebP: then it must be one.
    root.textures.iter().filter_map(image_of).for_each(|image| foreign[image as usize] = false);
    foreign
}

fn sampled(index: usize, sampler: &json::Sampler, image: u32) -> Result<Texture, SceneError> {
    let wrong = |name: &str, value: u32, allowed: &'static str| SceneError::ValueOutOfRange {
        what: format!("sampler {index} {name}"),
        value: f64::from(value),
        allowed,
    };
    let wrap = |name: &str, value: Option<u32>| match value {
        None | Some(10497) => Ok(Wrap::Repeat),
        Some(33071) => Ok(Wrap::Clamp),
        Some(33648) => Ok(Wrap::Mirror),
        Some(other) => Err(wrong(name, other, "33071, 33648 or 10497")),
    };
    let mag_linear = match sampler.mag_filter {
        None | Some(9729) => true,
        Some(9728) => false,
        Some(other) => return Err(wrong("magFilter", other, "9728 or 9729")),
    };
    let (min_linear, mip_linear) = match sampler.min_filter {
        None | Some(9987) => (true, Some(true)),
        Some(9728) => (false, None),
        Some(9729) => (true, None),
        Some(9984) => (false, Some(false)),
        Some(9985) => (true, Some(false)),
        Some(9986) => (false, Some(true)),
        Some(other) => return Err(wrong("minFilter", other, "9728, 9729 or 9984 to 9987")),
    };
    let (wrap_u, wrap_v) = (wrap("wrapS", sampler.wrap_s)?, wrap("wrapT", sampler.wrap_t)?);
    Ok(Texture { image, mag_linear, min_linear, mip_linear, wrap_u, wrap_v })
}

/// Encoded bytes of an image.
enum Encoded<'a> {
    View(&'a [u8]),
    Owned(Vec<u8>),
}

impl Encoded<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Encoded::View(bytes) => bytes,
            Encoded::Owned(bytes) => bytes,
        }
    }
}

/// Fetches all images, then decodes those listed in `used`, in that order; all headers come before any pixels.
fn read_images(reader: &mut Reader<'_, '_>, used: &[u32]) -> Result<Vec<Image>, SceneError> {
    within("images", "images", reader.root.images.len() as u64, reader.budget.limits.images)?;
    let mut encoded = Vec::with_capacity(reader.root.images.len());
    for (index, image) in reader.root.images.iter().enumerate() {
        encoded.push(fetch_image(reader, index, image)?);
    }
    let limits = reader.budget.limits;
    let budget = PixelBudget { max_side_px: limits.image_side_px, remaining_px: limits.image_pixels };
    let mut is_used = vec![false; encoded.len()];
    used.iter().for_each(|&index| is_used[index as usize] = true);
    let foreign = foreign_images(reader.root);
    let mut pixels = 0u64;
    for (index, image) in encoded.iter().enumerate().filter(|&(index, _)| !foreign[index]) {
        let what = format!("image {index}");
        let (width, height) = image::probe(image.bytes()).map_err(|error| broken(&what, &error))?;
        let side = u64::from(width.max(height));
        within(&what, "image_side_px", side, u64::from(limits.image_side_px))?;
        if is_used[index] {
            pixels = pixels.saturating_add(u64::from(width) * u64::from(height));
            within(&what, "image_pixels", pixels, limits.image_pixels)?;
        }
    }
    // Errors come out by lowest position, whichever thread met one first.
    let decode = |&index: &u32| {
        let json = &reader.root.images[index as usize];
        // All images together are known to fit; each alone must not be more than its header said.
        let mut budget = budget.clone();
        let bytes = encoded[index as usize].bytes();
        let decoded = image::decode(bytes, json.mime_type.as_deref(), &mut budget);
        let decoded = decoded.map_err(|error| broken(&format!("image {index}"), &error))?;
        Ok(Image { name: json.name.clone(), ..decoded })
    };
    let decoded: Vec<Result<Image, SceneError>> = used.par_iter().map(decode).collect();
    decoded.into_iter().collect()
}

fn broken(what: &str, error: &ImageError) -> SceneError {
    SceneError::Image { what: what.into(), reason: quote(&error.to_string()) }
}

fn fetch_image<'a>(
    reader: &mut Reader<'a, '_>,
    index: usize,
    image: &json::Image,
) -> Result<Encoded<'a>, SceneError> {
    let what = format!("image {index}");
    match (&image.uri, image.buffer_view) {
        (Some(uri), None) => Ok(Encoded::Owned(reader.files.fetch(&what, uri, &mut reader.budget)?)),
        (None, Some(view)) => {
            let view = get(reader.views, view, "bufferView", || what.clone())?;
            if view.placeholder {
                return Err(SceneError::Structure { what, reason: "its buffer has no data" });
            }
            if let Some(stride) = view.stride {
                return Err(SceneError::Stride { what, stride, reason: "an image must not be strided" });
            }
            Ok(Encoded::View(&view.bytes))
        }
        (Some(_), Some(_)) => Err(SceneError::Structure { what, reason: "it has both uri and bufferView" }),
        (None, None) => Err(SceneError::Structure { what, reason: "it has neither uri nor bufferView" }),
    }
}
