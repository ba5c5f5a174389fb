//! OpenEXR: the exact form of every output. One part, scan lines in increasing order, ZIP.
//!
//! | output | channels | type |
//! |---|---|---|
//! | `color` | `R` `G` `B` `A`, linear Rec.709, premultiplied | half, float in `exr32` |
//! | `base` | `base.R` to `base.A` | the same |
//! | `albedo` | `albedo.R` `albedo.G` `albedo.B` | the same |
//! | `depth` | `depth.Z`, along the view axis; +infinity where nothing is | float |
//! | `motion` | `motion.X` `motion.Y` | float |
//! | `normal` | `normal.X` `normal.Y` `normal.Z`, world | float |
//! | `id` | `id.node` `id.primitive`, glTF index + 1 | uint |
//! | `irradiance`, `reflectance` | `irradiance.diffuse.R` to `irradiance.specular.B`, and so on | float |
//! | `emission` | `emission.R` `emission.G` `emission.B` | float |
//! | `hit_distance` | `hit_distance.Z` | float |
//! | `variance` | `variance.diffuse` `variance.specular` | float |
//! | `id`, with a scene | `CryptoObject00.R` to `CryptoObject01.A` | float |
//!
//! The names are the same whether a file holds one output or all. Colour opens as the picture everywhere;
//! the rest is `layer.channel`, which Nuke and Blender show as layers. OIDN takes `R` `G` `B`, `albedo` and
//! `normal` as they are.

use std::io::Cursor;

use exr::block::reader::ChunksReader;
use exr::block::writer::ChunksWriter;
use exr::block::{self, UncompressedBlock};
use exr::compression::Compression;
use exr::math::Vec2;
use exr::meta::attribute::{AttributeValue, ChannelDescription, Chromaticities, LineOrder, SampleType, Text};
use exr::meta::header::{Header, ImageAttributes, LayerAttributes};
use exr::meta::{BlockDescription, MetaData};
use half::f16;
use half::slice::HalfFloatSliceExt;
use isoframe_raster::frame::{Color, Coverage, Frame, Output};
use isoframe_raster::view::View;

use super::cryptomatte::{LAYER, Mattes, RANKS};
use super::exr_header::{self, Attributes};
use super::pixels::{PixelHash, Pixels, Rows};
use super::{EncodeError, EncodeOptions, Format, color_format};
use crate::receipt::Receipt;

/// Header attribute of a receipt.
pub(super) const RECEIPT_ATTRIBUTE: &str = "isoframeReceipt";

/// Largest half.
const HALF_MAX: f32 = 65504.0;

/// Names of channels that keep diffuse and specular apart.
const PARTS: [&str; 6] = ["diffuse.R", "diffuse.G", "diffuse.B", "specular.R", "specular.G", "specular.B"];

/// Most channels that are read.
const CHANNELS_MAX: usize = 64;

/// Where a channel's samples come from.
enum Samples<'a> {
    Half(Plane<'a, f32>),
    Float(Plane<'a, f32>),
    Uint(Plane<'a, u32>),
    /// Id (even) or coverage (odd) of a rank.
    Matte {
        rank: usize,
        coverage: bool,
    },
}

/// Every n-th value of a buffer.
struct Plane<'a, T> {
    values: &'a [T],
    stride: usize,
    offset: usize,
}

impl<T: Copy> Plane<'_, T> {
    fn line(&self, start: usize, width: usize) -> impl Iterator<Item = T> {
        let from = start * self.stride + self.offset;
        self.values[from..].iter().step_by(self.stride).take(width).copied()
    }
}

struct Channel<'a> {
    name: String,
    samples: Samples<'a>,
}

/// A frame as channels, in the order of their names.
pub(super) struct Layers<'a> {
    width: usize,
    height: usize,
    channels: Vec<Channel<'a>>,
    mattes: Option<(Mattes, &'a Coverage, &'a [[u32; 2]])>,
}

impl<'a> Layers<'a> {
    /// Gathers outputs of a frame.
    pub(super) fn new(
        frame: &'a Frame,
        outputs: &[Output],
        format: Format,
        options: &EncodeOptions<'_>,
    ) -> Result<Layers<'a>, EncodeError> {
        let (width, height) = (frame.width as usize, frame.height as usize);
        let mut layers = Layers { width, height, channels: Vec::new(), mattes: None };
        let half = format == Format::ExrHalf;
        for &output in outputs {
            let missing = EncodeError::Missing { output };
            match output {
                Output::Color => match frame.color.as_ref().ok_or(missing)? {
                    Color::Linear(color) => {
                        layers.floats(output, "RGBA", bytemuck::cast_slice(color), half)?;
                    }
                    Color::Srgb8(_) => {
                        return Err(EncodeError::ColorFormat { format, needed: color_format(format) });
                    }
                },
                Output::Base => {
                    let base = frame.base.as_ref().ok_or(missing)?;
                    layers.floats(output, "RGBA", bytemuck::cast_slice(base), half)?;
                }
                Output::Albedo => {
                    let albedo = frame.albedo.as_ref().ok_or(missing)?;
                    layers.floats(output, "RGB", bytemuck::cast_slice(albedo), half)?;
                }
                Output::Depth => layers.floats(output, "Z", frame.depth.as_ref().ok_or(missing)?, false)?,
                Output::Motion => {
                    let motion = frame.motion.as_ref().ok_or(missing)?;
                    layers.floats(output, "XY", bytemuck::cast_slice(motion), false)?;
                }
                Output::Normal => {
                    let normal = frame.normal.as_ref().ok_or(missing)?;
                    layers.floats(output, "XYZ", bytemuck::cast_slice(normal), false)?;
                }
                Output::Irradiance => {
                    let light = frame.irradiance.as_ref().ok_or(missing)?;
                    layers.named(output, &PARTS, bytemuck::cast_slice(light), false)?;
                }
                Output::Reflectance => {
                    let reflectance = frame.reflectance.as_ref().ok_or(missing)?;
                    layers.named(output, &PARTS, bytemuck::cast_slice(reflectance), false)?;
                }
                Output::Emission => {
                    let emission = frame.emission.as_ref().ok_or(missing)?;
                    layers.floats(output, "RGB", bytemuck::cast_slice(emission), false)?;
                }
                Output::HitDistance => {
                    let distance = frame.hit_distance.as_ref().ok_or(missing)?;
                    layers.floats(output, "Z", distance, false)?;
                }
                Output::Variance => {
                    let variance = frame.variance.as_ref().ok_or(missing)?;
                    let names = ["diffuse", "specular"];
                    layers.named(output, &names, bytemuck::cast_slice(variance), false)?;
                }
                Output::Id => {
                    let ids = frame.id.as_ref().ok_or(missing)?;
                    layers.ids(ids)?;
                    if let (Some(scene), Some(coverage)) = (options.scene, &frame.coverage) {
                        layers.mattes(Mattes::new(scene), coverage, ids);
                    }
                }
            }
        }
        layers.channels.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(layers)
    }

    fn check(&self, output: Output, got: usize) -> Result<(), EncodeError> {
        let wanted = self.width * self.height;
        if wanted == got { Ok(()) } else { Err(EncodeError::Shape { output, wanted, got }) }
    }

    fn floats(
        &mut self,
        output: Output,
        letters: &str,
        values: &'a [f32],
        half: bool,
    ) -> Result<(), EncodeError> {
        let names: Vec<String> = letters.chars().map(String::from).collect();
        self.named(output, &names, values, half)
    }

    fn named(
        &mut self,
        output: Output,
        names: &[impl AsRef<str>],
        values: &'a [f32],
        half: bool,
    ) -> Result<(), EncodeError> {
        let stride = names.len();
        self.check(output, values.len() / stride)?;
        for (offset, name) in names.iter().enumerate() {
            let name = match output {
                Output::Color => name.as_ref().to_owned(),
                _ => format!("{output}.{}", name.as_ref()),
            };
            let plane = Plane { values, stride, offset };
            let samples = if half { Samples::Half(plane) } else { Samples::Float(plane) };
            self.channels.push(Channel { name, samples });
        }
        Ok(())
    }

    fn ids(&mut self, id: &'a [[u32; 2]]) -> Result<(), EncodeError> {
        self.check(Output::Id, id.len())?;
        let values: &[u32] = bytemuck::cast_slice(id);
        for (offset, name) in ["node", "primitive"].into_iter().enumerate() {
            let samples = Samples::Uint(Plane { values, stride: 2, offset });
            self.channels.push(Channel { name: format!("id.{name}"), samples });
        }
        Ok(())
    }

    fn mattes(&mut self, mattes: Mattes, coverage: &'a Coverage, ids: &'a [[u32; 2]]) {
        for rank in 0..RANKS {
            // Two ranks to a layer: id and coverage in R and G, then in B and A.
            let letters = if rank % 2 == 0 { ["R", "G"] } else { ["B", "A"] };
            for (letter, coverage) in letters.into_iter().zip([false, true]) {
                let name = format!("{LAYER}{:02}.{letter}", rank / 2);
                self.channels.push(Channel { name, samples: Samples::Matte { rank, coverage } });
            }
        }
        self.mattes = Some((mattes, coverage, ids));
    }

    /// Samples of one line: channel after channel, little-endian, as EXR stores it.
    fn line(&self, y: usize, bytes: &mut Vec<u8>) {
        let start = y * self.width;
        let ranks = self.ranks(start);
        for channel in &self.channels {
            match &channel.samples {
                Samples::Half(plane) => {
                    let line: Vec<f32> =
                        plane.line(start, self.width).map(|value| value.clamp(-HALF_MAX, HALF_MAX)).collect();
                    let mut halves = vec![f16::ZERO; self.width];
                    halves.convert_from_f32_slice(&line);
                    bytes.extend_from_slice(bytemuck::cast_slice(
                        &halves.iter().map(|half| half.to_bits()).collect::<Vec<u16>>(),
                    ));
                }
                Samples::Float(plane) => {
                    bytes.extend(plane.line(start, self.width).flat_map(f32::to_le_bytes));
                }
                Samples::Uint(plane) => {
                    bytes.extend(plane.line(start, self.width).flat_map(u32::to_le_bytes));
                }
                Samples::Matte { rank, coverage } => bytes.extend(ranks.iter().flat_map(|ranks| {
                    let (id, covered) = ranks[*rank];
                    if *coverage { covered } else { id }.to_le_bytes()
                })),
            }
        }
    }

    /// Ids and coverages of the ranks of a line's pixels.
    fn ranks(&self, start: usize) -> Vec<[(f32, f32); RANKS]> {
        let Some((mattes, coverage, ids)) = &self.mattes else { return Vec::new() };
        let owners = coverage.owners(start, &ids[start..start + self.width]);
        owners.map(|owners| mattes.ranks(&owners, coverage.samples)).collect()
    }

    fn sample_type(channel: &Channel<'_>) -> SampleType {
        match channel.samples {
            Samples::Half(_) => SampleType::F16,
            Samples::Float(_) | Samples::Matte { .. } => SampleType::F32,
            Samples::Uint(_) => SampleType::U32,
        }
    }

    fn rows(&self) -> Rows {
        let channels = self.channels.iter().map(|channel| (channel.name.clone(), Self::sample_type(channel)));
        Rows::of_channels(self.width as u32, self.height as u32, channels)
    }

    /// Hash of all samples.
    pub(super) fn hash(&self) -> PixelHash {
        let mut hasher = self.rows().hasher();
        let mut line = Vec::new();
        for y in 0..self.height {
            line.clear();
            self.line(y, &mut line);
            hasher.update(&line);
        }
        PixelHash::new(&hasher)
    }

    /// Writes the file. *Errors*: what the library says.
    pub(super) fn write(&self, receipt: &Receipt, view: Option<&View>) -> Result<Vec<u8>, String> {
        let channels = self.channels.iter().map(|channel| ChannelDescription {
            name: text(&channel.name),
            sample_type: Self::sample_type(channel),
            quantize_linearly: false,
            sampling: Vec2(1, 1),
        });
        let header = Header::new(text(""), (self.width, self.height), channels.collect())
            .with_encoding(Compression::ZIP16, BlockDescription::ScanLines, LineOrder::Increasing)
            .with_attributes(self.attributes(receipt, view))
            .with_shared_attributes(ImageAttributes {
                chromaticities: Some(REC_709),
                ..ImageAttributes::with_size((self.width, self.height))
            });
        let mut file = Cursor::new(Vec::new());
        let headers = std::iter::once(header).collect();
        block::write(&mut file, headers, true, |meta, writer| {
            let blocks = meta.collect_ordered_block_data(|index| {
                let mut bytes = Vec::new();
                let first = index.pixel_position.y();
                (first..first + index.pixel_size.y()).for_each(|y| self.line(y, &mut bytes));
                bytes
            });
            writer.on_progress(|_| {}).compress_all_blocks_parallel(&meta, blocks)
        })
        .map_err(|error| error.to_string())?;
        let mut file = file.into_inner();
        exr_header::sort(&mut file)?;
        Ok(file)
    }

    fn attributes(&self, receipt: &Receipt, view: Option<&View>) -> LayerAttributes {
        let mut attributes = LayerAttributes { software_name: Some(text("isoframe")), ..Default::default() };
        if let Some(view) = view {
            attributes.world_to_camera = Some(world_to_camera(view));
        }
        let mut add = |name: &str, value: String| {
            attributes.other.insert(text(name), AttributeValue::Text(text(&value)));
        };
        add(RECEIPT_ATTRIBUTE, receipt.to_json());
        add("colorInteropID", "lin_rec709_scene".into());
        for &output in &receipt.outputs {
            let convention = match output {
                Output::Color => "linear Rec.709, premultiplied, after exposure and tone mapping",
                Output::Base => "scene-linear Rec.709 radiance, premultiplied, before exposure",
                Output::Depth => {
                    "distance along the view axis in scene units; +infinity where nothing is drawn"
                }
                Output::Motion => {
                    "pixels, x right, y down, unjittered: where the surface was in the previous frame minus \
                     where it is now"
                }
                Output::Normal => "world space, unit length, facing the viewer; zero where nothing is drawn",
                Output::Albedo => "linear Rec.709 base colour before lighting",
                Output::Id => "glTF node index + 1, glTF primitive index + 1; zero where nothing is drawn",
                Output::Irradiance => {
                    "traced light over reflectance, diffuse and specular, mean of light samples"
                }
                Output::Reflectance => "what irradiance is to be multiplied by, diffuse and specular",
                Output::Emission => "scene-linear Rec.709 radiance that the surface emits",
                Output::HitDistance => {
                    "mean distance to what traced paths met first, scene units; 65504 where nothing"
                }
                Output::Variance => "of the luminance of irradiance over light samples, diffuse and specular",
            };
            add(&format!("isoframe/{output}"), convention.into());
        }
        if let Some((mattes, ..)) = &self.mattes {
            mattes.metadata().into_iter().for_each(|(name, value)| add(&name, value));
        }
        attributes
    }
}

/// OpenEXR's camera space looks down +Z and its vectors are rows, so the rows of its matrix are our columns.
fn world_to_camera(view: &View) -> [f32; 16] {
    let columns = view.view_from_world.to_cols_array_2d();
    let mut matrix = [0.0; 16];
    for (row, column) in columns.iter().enumerate() {
        for (at, element) in column.iter().enumerate() {
            let flipped = if at == 2 { -element } else { *element };
            matrix[row * 4 + at] = (flipped + 0.0) as f32;
        }
    }
    matrix
}

/// Primaries and white point of ITU-R BT.709.
const REC_709: Chromaticities = Chromaticities {
    red: Vec2(0.64, 0.33),
    green: Vec2(0.3, 0.6),
    blue: Vec2(0.15, 0.06),
    white: Vec2(0.3127, 0.329),
};

fn text(text: &str) -> Text {
    Text::from_slice_unchecked(text.as_bytes())
}

/// The receipt of a file.
pub(super) fn receipt_json(bytes: &[u8]) -> Result<Option<&[u8]>, String> {
    Ok(Attributes::read(bytes)?.value(RECEIPT_ATTRIBUTE))
}

/// Reads the samples of a file of this size. *Errors*: a file that is damaged, or another size.
pub(super) fn read(bytes: &[u8], width: u32, height: u32) -> Result<Pixels, String> {
    let window = Attributes::read(bytes)?.value("dataWindow").ok_or("no dataWindow")?.to_vec();
    let expected: Vec<u8> = [0, 0, width - 1, height - 1].into_iter().flat_map(u32::to_le_bytes).collect();
    if window != expected {
        return Err(format!("not {width}x{height} pixels"));
    }
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(|error| error.to_string())?;
    let [header] = meta.headers.as_slice() else { return Err("more than one part".into()) };
    let channels = &header.channels.list;
    if channels.len() > CHANNELS_MAX || channels.iter().any(|channel| channel.sampling != Vec2(1, 1)) {
        return Err(format!("more than {CHANNELS_MAX} channels, or subsampled ones"));
    }
    let named = channels.iter().map(|channel| (channel.name.to_string(), channel.sample_type));
    let rows = Rows::of_channels(width, height, named);
    let mut samples = vec![0; rows.bytes()];
    let mut seen = vec![false; height as usize];
    let reader = block::read(Cursor::new(bytes), false).map_err(|error| error.to_string())?;
    let chunks = reader.all_chunks(false).map_err(|error| error.to_string())?;
    let meta = chunks.meta_data().clone();
    for chunk in chunks {
        let block = chunk.and_then(|chunk| UncompressedBlock::decompress_chunk(chunk, &meta, false));
        let block = block.map_err(|error| error.to_string())?;
        place(&block, &rows, &mut samples, &mut seen)?;
    }
    if seen.contains(&false) {
        return Err("lines are missing".into());
    }
    Ok(Pixels { rows, samples })
}

fn place(
    block: &UncompressedBlock,
    rows: &Rows,
    samples: &mut [u8],
    seen: &mut [bool],
) -> Result<(), String> {
    let (first, count) = (block.index.pixel_position.y(), block.index.pixel_size.y());
    let lines = seen.get_mut(first..first + count).ok_or("a block lies outside")?;
    let range = first * rows.row_bytes()..(first + count) * rows.row_bytes();
    let target = samples.get_mut(range).ok_or("a block lies outside")?;
    if target.len() != block.data.len() {
        return Err("a block has the wrong size".into());
    }
    target.copy_from_slice(&block.data);
    lines.fill(true);
    Ok(())
}
