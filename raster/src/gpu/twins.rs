//! Structs that host and shaders share, as the host lays them out: what tests hold the WGSL against.

use std::any::type_name_of_val;
use std::mem::offset_of;

use bytemuck::Zeroable;

use super::deform::DeformJob;
use super::layout::{Band, Counters, Encoding};
use super::traced::{PackedGuide, PackedPixelLight, Tracing};
use super::trees::{LeafTriangle, Placement};
use crate::accel::Node;
use crate::draw::{FrameConstants, Instance, PackedLight};
use crate::emitters::Emitter;
use crate::prepared::{PackedMaterial, PackedTexture, Vertex};

/// A field of a [`HostStruct`].
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct HostField {
    /// Name, in WGSL too.
    pub name: &'static str,
    /// *Units*: bytes.
    pub offset: u32,
    /// *Units*: bytes.
    pub bytes: u32,
    /// Type, as Rust writes it.
    pub kind: &'static str,
}

/// A struct as the host lays it out.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct HostStruct {
    /// Name, in WGSL too.
    pub name: &'static str,
    /// *Units*: bytes.
    pub bytes: u32,
    /// All fields, in order.
    pub fields: Vec<HostField>,
}

/// Describes a struct; does not compile where a field is left out.
macro_rules! host_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {{
        let $name { $($field),* } = &$name::zeroed();
        HostStruct {
            name: stringify!($name),
            bytes: size_of::<$name>() as u32,
            fields: vec![$(HostField {
                name: stringify!($field),
                offset: offset_of!($name, $field) as u32,
                bytes: size_of_val($field) as u32,
                kind: type_name_of_val($field),
            }),*],
        }
    }};
}

/// Structs that a shader declares under the same name and binds: uniforms and storage.
#[doc(hidden)]
pub fn bound_structs() -> Vec<HostStruct> {
    vec![
        host_struct!(FrameConstants {
            zero,
            width,
            height,
            samples,
            orthographic,
            key_scale,
            key_offset,
            znear,
            zfar,
            exposure,
            tonemap,
            background,
            light_count,
            environment_light,
            environment_intensity,
            background_side,
            environment_cos,
            environment_sin,
            outputs,
            srgb8,
            background_linear,
            to_viewer,
            ray_x,
            ray_y,
            ray_0,
            irradiance_sh,
        }),
        host_struct!(Band {
            instance_count,
            clip_vertex_count,
            triangle_count,
            first_tile_row,
            tiles_x,
            tiles_y,
            setup_capacity,
            pair_capacity,
            item_capacity,
            clipped_capacity,
            large_capacity,
            key_far,
            color_at,
            base_at,
            depth_at,
            motion_at,
            normal_at,
            albedo_at,
            id_at,
            coverage_at,
            reflectance_at,
            emission_at,
            deformed_count,
            first_tree_node,
            visits_max,
            first_guide_row,
            padding,
        }),
        host_struct!(Counters { setups, clipped, large, items, pairs, active_tiles, blank_tiles, padding }),
        host_struct!(Encoding { thresholds, guesses }),
        host_struct!(Tracing {
            seed,
            sample,
            diffuse_bounces,
            specular_bounces,
            bounces,
            occlusion_radius,
            sample_max,
            light_radius2,
            light_depth,
            sky_side,
            emitter_count,
            merges,
            pixel_count,
            padding_0,
            padding_1,
            padding_2,
        }),
        host_struct!(DeformJob {
            first_vertex,
            vertex_count,
            first_source,
            first_target,
            target_count,
            first_weight,
            first_joint,
            is_triangles,
        }),
    ]
}

/// Structs that lie in lists of `vec4<u32>`, which shaders take apart word by word.
#[doc(hidden)]
pub fn listed_structs() -> Vec<HostStruct> {
    vec![
        host_struct!(Vertex { position, normal, tangent, uv0, uv1, color }),
        host_struct!(Instance {
            clip_from_local,
            previous_clip_from_local,
            eye_from_local,
            normal_from_local,
            first_vertex,
            vertex_count,
            first_clip_vertex,
            first_index,
            first_triangle,
            triangle_count,
            material,
            node_id,
            primitive_id,
            flags,
            scale,
            padding,
        }),
        host_struct!(PackedMaterial {
            base_color,
            emissive,
            cutoff,
            metallic,
            roughness,
            normal_scale,
            occlusion_strength,
            flags,
            padding,
            base_color_texture,
            metallic_roughness_texture,
            normal_texture,
            occlusion_texture,
            emissive_texture,
            specular_color,
            specular,
            ior,
            clearcoat,
            clearcoat_roughness,
            clearcoat_normal_scale,
            sheen_color,
            sheen_roughness,
            anisotropy,
            transmission,
            anisotropy_direction,
            attenuation,
            thickness,
            iridescence,
            iridescence_ior,
            iridescence_thickness_min,
            iridescence_thickness_max,
            specular_texture,
            specular_color_texture,
            clearcoat_texture,
            clearcoat_roughness_texture,
            clearcoat_normal_texture,
            sheen_color_texture,
            sheen_roughness_texture,
            anisotropy_texture,
            transmission_texture,
            thickness_texture,
            iridescence_texture,
            iridescence_thickness_texture,
        }),
        host_struct!(Node { min, first, max, count }),
        host_struct!(Placement {
            local_from_eye,
            instance,
            first_triangle,
            first_node,
            first_leaf_triangle,
            opaque,
            padding,
        }),
        host_struct!(LeafTriangle { corner_0, number, corner_1, padding_1, corner_2, padding_2 }),
        host_struct!(Emitter { before, instance, triangle, pdf_area }),
        host_struct!(PackedGuide { normal, depth, instance, padding }),
        host_struct!(PackedPixelLight { diffuse, padding_0, specular, padding_1, extra, padding_2 }),
        host_struct!(PackedTexture { uv_transform, uv_set, first_texel, width, height, level_count, flags }),
        host_struct!(PackedLight {
            position_eye,
            kind,
            direction,
            inverse_range2,
            linear_color,
            spot_scale,
            spot_offset,
            padding,
        }),
    ]
}
