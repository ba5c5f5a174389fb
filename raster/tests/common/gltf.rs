//! Small glTF files from Rust.
//!
//! A [`Gltf`] is the JSON of a file and its binary chunk. Helpers append buffer views, accessors, meshes and nodes
//! and return their index; everything else is plain `serde_json`, so that a test can also write what is wrong:
//!
//! ```ignore
//! let mut file = Gltf::new();
//! let positions = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
//! let mesh = file.mesh(json!({ "attributes": { "POSITION": positions } }));
//! file.node(json!({ "mesh": mesh }));
//! let bytes = file.glb();
//! ```
//!
//! Nodes are added to scene 0 unless `child` is used; children are wired by hand through `file.json`.

use base64::Engine;
use serde_json::{Value, json};

/// Component types by their glTF code.
pub const I8: u32 = 5120;
/// Unsigned byte.
pub const U8: u32 = 5121;
/// Signed short.
pub const I16: u32 = 5122;
/// Unsigned short.
pub const U16: u32 = 5123;
/// Unsigned int.
pub const U32: u32 = 5125;
/// Float.
pub const F32: u32 = 5126;

/// Vertices of the right triangle (0,0,0), (1,0,0), (0,1,0).
pub const TRIANGLE: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// A glTF file in the making.
#[derive(Debug, Clone)]
pub struct Gltf {
    /// The JSON; edit freely.
    pub json: Value,
    /// Buffer 0.
    pub bin: Vec<u8>,
}

impl Default for Gltf {
    fn default() -> Self {
        Gltf::new()
    }
}

/// Little-endian bytes of floats.
pub fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Little-endian bytes of unsigned shorts.
pub fn u16_bytes(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Little-endian bytes of signed shorts.
pub fn i16_bytes(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Little-endian bytes of unsigned ints.
pub fn u32_bytes(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// `bytes` as a data URI.
pub fn data_uri(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// An 8-bit PNG of one colour.
pub fn png(width: u32, height: u32, rgba: [u8; 4]) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    let picture = image::RgbaImage::from_pixel(width, height, image::Rgba(rgba));
    picture.write_to(&mut out, image::ImageFormat::Png).expect("PNG encodes");
    out.into_inner()
}

impl Gltf {
    /// A file with one empty scene.
    pub fn new() -> Gltf {
        Gltf { json: json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{}] }), bin: Vec::new() }
    }

    /// A file that draws [`TRIANGLE`] once, on node 0, mesh 0, POSITION in accessor 0, no indices.
    pub fn triangle() -> Gltf {
        let mut file = Gltf::new();
        let position = file.floats("VEC3", &TRIANGLE);
        let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
        file.node(json!({ "mesh": mesh }));
        file
    }

    /// Appends to a root array and returns the index of the new entry.
    pub fn push(&mut self, array: &str, value: Value) -> u32 {
        let list = &mut self.json[array];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().expect("a root array");
        list.push(value);
        list.len() as u32 - 1
    }

    /// Appends a buffer view over new bytes, starting at a multiple of four.
    pub fn view(&mut self, bytes: &[u8]) -> u32 {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": offset, "byteLength": bytes.len() }))
    }

    /// Appends an accessor over new bytes.
    pub fn accessor(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> u32 {
        let view = self.view(bytes);
        self.push(
            "accessors",
            json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }),
        )
    }

    /// Appends a normalized accessor over new bytes.
    pub fn normalized(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> u32 {
        let index = self.accessor(kind, component, count, bytes);
        self.json["accessors"][index as usize]["normalized"] = json!(true);
        index
    }

    /// Appends an accessor of floats; `kind` says how many make an element.
    pub fn floats(&mut self, kind: &str, values: &[f32]) -> u32 {
        self.accessor(kind, F32, values.len() / components(kind), &f32_bytes(values))
    }

    /// Appends scalar unsigned shorts: indices.
    pub fn indices(&mut self, values: &[u16]) -> u32 {
        self.accessor("SCALAR", U16, values.len(), &u16_bytes(values))
    }

    /// Appends a mesh of one primitive.
    pub fn mesh(&mut self, primitive: Value) -> u32 {
        self.push("meshes", json!({ "primitives": [primitive] }))
    }

    /// Appends a node and adds it to scene 0.
    pub fn node(&mut self, node: Value) -> u32 {
        let index = self.child(node);
        let roots = &mut self.json["scenes"][0]["nodes"];
        if roots.is_null() {
            *roots = json!([]);
        }
        roots.as_array_mut().expect("scene nodes").push(json!(index));
        index
    }

    /// Appends a node that no scene lists.
    pub fn child(&mut self, node: Value) -> u32 {
        self.push("nodes", node)
    }

    /// Declares an extension, as required too.
    pub fn require(&mut self, name: &str) -> &mut Gltf {
        self.push("extensionsUsed", json!(name));
        self.push("extensionsRequired", json!(name));
        self
    }

    /// Declares an extension.
    pub fn uses(&mut self, name: &str) -> &mut Gltf {
        self.push("extensionsUsed", json!(name));
        self
    }

    /// Adds an image, a texture of it, and returns the texture's index.
    pub fn texture(&mut self, png: &[u8]) -> u32 {
        let view = self.view(png);
        let image = self.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        self.push("textures", json!({ "source": image }))
    }

    /// The JSON with buffer 0 as given.
    fn with_buffer(&self, buffer: Value) -> Value {
        let mut json = self.json.clone();
        if !self.bin.is_empty() && json["buffers"].is_null() {
            json["buffers"] = json!([buffer]);
        }
        json
    }

    /// The file as `.glb`.
    pub fn glb(&self) -> Vec<u8> {
        let json = self.with_buffer(json!({ "byteLength": self.bin.len() }));
        glb(&serde_json::to_vec(&json).expect("JSON"), &self.bin)
    }

    /// The file as `.gltf` with its buffer in a data URI.
    pub fn gltf(&self) -> Vec<u8> {
        self.gltf_with_uri(&data_uri("application/octet-stream", &self.bin))
    }

    /// The file as `.gltf` whose buffer has this URI.
    pub fn gltf_with_uri(&self, uri: &str) -> Vec<u8> {
        let json = self.with_buffer(json!({ "byteLength": self.bin.len(), "uri": uri }));
        serde_json::to_vec(&json).expect("JSON")
    }
}

/// A `.glb` of a JSON and a binary chunk, padded as the container wants; no binary chunk where `bin` is empty.
pub fn glb(json: &[u8], bin: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), with);
        bytes
    };
    let mut chunks = Vec::new();
    for (kind, data) in [(b"JSON", pad(json, b' ')), (b"BIN\0", pad(bin, 0))] {
        if !data.is_empty() {
            chunks.extend_from_slice(&(data.len() as u32).to_le_bytes());
            chunks.extend_from_slice(kind);
            chunks.extend_from_slice(&data);
        }
    }
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend_from_slice(&(chunks.len() as u32 + 12).to_le_bytes());
    out.extend_from_slice(&chunks);
    out
}

/// Numbers in one element.
pub fn components(kind: &str) -> usize {
    match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" | "MAT2" => 4,
        "MAT3" => 9,
        "MAT4" => 16,
        other => panic!("no such type: {other}"),
    }
}
