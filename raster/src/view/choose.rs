//! A camera choice into a view.

use glam::{DMat4, DVec3};

use super::framing::{FRAMED_YFOV_RAD, Field, Framed, Stand};
use super::{Extents, Lens, View};
use crate::frame::{CameraChoice, NamedView, ProjectionChoice, RenderError};
use crate::pose::{self, Pose};
use crate::scene::{CameraKind, Scene};

pub(super) struct Choosing<'a> {
    pub extents: &'a Extents,
    pub scene: &'a Scene,
    pub pose: &'a Pose,
    pub width: f64,
    pub height: f64,
}

fn refuse<T>(reason: String) -> Result<T, RenderError> {
    Err(RenderError::Request { field: "camera", reason })
}

impl Choosing<'_> {
    pub fn view(&self, choice: &CameraChoice) -> Result<View, RenderError> {
        match choice {
            CameraChoice::Auto => match self.camera_nodes().next() {
                Some(node) => self.at_node(node),
                None => self.framed(NamedView::ThreeQuarter),
            },
            CameraChoice::Index(index) => match self.camera_nodes().nth(*index as usize) {
                Some(node) => self.at_node(node),
                None => refuse(format!("there is no camera {index}; {}", self.list())),
            },
            CameraChoice::Name(name) => self.at_node(self.named(name)?),
            CameraChoice::View(view) => self.framed(*view),
            CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative, target_world, yfov_rad } => {
                let stand = orbit_stand(*theta_rad, *phi_rad)?;
                self.orbit(stand, (*radius, *radius_relative), *target_world, *yfov_rad)
            }
            CameraChoice::Matrix { world_from_view, projection } => {
                self.explicit(world_from_view, projection)
            }
        }
    }

    /// Camera-carrying nodes, in node order.
    fn camera_nodes(&self) -> impl Iterator<Item = usize> {
        self.scene.nodes.iter().enumerate().filter(|(_, node)| node.camera.is_some()).map(|(index, _)| index)
    }

    /// The node's name, or where it has none its camera's.
    fn label(&self, node: usize) -> &str {
        let node = &self.scene.nodes[node];
        match node.camera {
            Some(camera) if node.name.is_empty() => &self.scene.cameras[camera as usize].name,
            _ => &node.name,
        }
    }

    fn list(&self) -> String {
        let nodes: Vec<usize> = self.camera_nodes().collect();
        pose::listed("the scene has", "camera", nodes.iter().map(|&node| self.label(node)))
    }

    fn named(&self, name: &str) -> Result<usize, RenderError> {
        let nodes = || self.camera_nodes().map(|index| (index, &self.scene.nodes[index]));
        let camera_name = |camera: Option<u32>| camera.map(|c| self.scene.cameras[c as usize].name.as_str());
        if name.is_empty() {
            return refuse(format!("a camera's name is not empty; {}", self.list()));
        }
        let by_node = nodes().find(|(_, node)| node.name == name);
        let found = by_node.or_else(|| nodes().find(|(_, node)| camera_name(node.camera) == Some(name)));
        if let Some((index, _)) = found {
            return Ok(index);
        }
        let why = if self.scene.nodes.iter().any(|node| node.name == name) {
            format!("node `{name}` carries no camera")
        } else if self.scene.cameras.iter().any(|camera| camera.name == name) {
            format!("no node of the scene carries camera `{name}`")
        } else {
            format!("there is no camera `{name}`")
        };
        refuse(format!("{why}; {}", self.list()))
    }

    fn at_node(&self, index: usize) -> Result<View, RenderError> {
        let node = &self.scene.nodes[index];
        let Some(camera) = node.camera else {
            return refuse(format!("node {} carries no camera", node.gltf_index));
        };
        let lens = self.file_lens(&self.scene.cameras[camera as usize].kind)?;
        match View::new(self.pose.world_from_node[index], lens) {
            Some(view) => Ok(view),
            None => refuse(format!(
                "node {} `{}` is scaled to nothing, so its camera looks nowhere",
                node.gltf_index, node.name
            )),
        }
    }

    fn file_lens(&self, kind: &CameraKind) -> Result<Lens, RenderError> {
        match *kind {
            CameraKind::Perspective { yfov_rad, aspect, znear, zfar } => {
                let tan_y = half_tangent(yfov_rad.into())?;
                let fits_height = self.height * 0.5 / tan_y;
                let focal_px = match aspect {
                    Some(aspect) => fits_height.min(self.width * 0.5 / (tan_y * f64::from(aspect))),
                    None => fits_height,
                };
                let (znear, zfar) = (f64::from(znear), zfar.map(f64::from));
                check_planes(znear > 0.0, znear, zfar)?;
                Ok(Lens::Perspective { focal_px, znear, zfar })
            }
            CameraKind::Orthographic { xmag, ymag, znear, zfar } => {
                let across = self.width * 0.5 / f64::from(xmag).abs();
                let up = self.height * 0.5 / f64::from(ymag).abs();
                let px_per_unit = across.min(up);
                if !px_per_unit.is_finite() {
                    return refuse(format!(
                        "an orthographic camera of half extents {xmag} by {ymag} sees nothing"
                    ));
                }
                let (znear, zfar) = (f64::from(znear), f64::from(zfar));
                check_planes(znear >= 0.0, znear, Some(zfar))?;
                Ok(Lens::Orthographic { px_per_unit, znear, zfar })
            }
        }
    }

    fn framed_bounds(&self) -> Framed {
        Framed::new(self.extents.bounds_world(self.scene, &self.pose.animation))
    }

    fn field(&self, yfov_rad: f64) -> Result<Field, RenderError> {
        let tan_y = half_tangent(yfov_rad)?;
        Ok(Field { tan_x: tan_y * self.width / self.height, tan_y })
    }

    fn focal_px(&self, field: Field) -> f64 {
        self.height * 0.5 / field.tan_y
    }

    fn framed(&self, view: NamedView) -> Result<View, RenderError> {
        let framed = self.framed_bounds();
        let field = self.field(FRAMED_YFOV_RAD)?;
        let stand = Stand::named(view);
        let distance = field.distance_to_box(&framed, &stand);
        Ok(self.standing(&stand, &framed, framed.centre_world, distance, field))
    }

    fn standing(&self, stand: &Stand, framed: &Framed, target: DVec3, distance: f64, field: Field) -> View {
        let focal_px = self.focal_px(field);
        let view = stand.view(target, distance, Lens::Perspective { focal_px, znear: distance, zfar: None });
        let znear = framed.znear(&view);
        View { lens: Lens::Perspective { focal_px, znear, zfar: None }, ..view }
    }

    fn orbit(
        &self,
        stand: Stand,
        (radius, radius_relative): (f64, bool),
        target_world: Option<[f64; 3]>,
        yfov_rad: Option<f64>,
    ) -> Result<View, RenderError> {
        if !(radius > 0.0 && radius.is_finite()) {
            return refuse(format!("an orbit's radius is above zero and finite, not {radius}"));
        }
        let limit = pose::COORDINATE_LIMIT;
        let within = |value: &f64| value.abs() <= limit;
        if !within(&radius) || !target_world.iter().flatten().all(within) {
            return refuse(format!("an orbit of {radius} around {target_world:?} goes beyond {limit:e}"));
        }
        let framed = self.framed_bounds();
        let field = self.field(yfov_rad.unwrap_or(FRAMED_YFOV_RAD))?;
        let distance = if radius_relative { radius * field.distance_to_sphere(&framed) } else { radius };
        let target = target_world.map_or(framed.centre_world, DVec3::from_array);
        Ok(self.standing(&stand, &framed, target, distance, field))
    }

    fn explicit(&self, columns: &[f64; 16], projection: &ProjectionChoice) -> Result<View, RenderError> {
        let world_from_view = explicit_matrix(columns)?;
        // The lens is known once the view is: near and far planes may come from the bounds.
        let placeholder = Lens::Orthographic { px_per_unit: 1.0, znear: 0.0, zfar: 1.0 };
        let Some(view) = View::new(world_from_view, placeholder) else {
            return refuse("the camera matrix is singular: it has no viewing direction or no up".into());
        };
        let lens = match *projection {
            ProjectionChoice::Perspective { yfov_rad, znear, zfar } => {
                let focal_px = self.height * 0.5 / half_tangent(yfov_rad)?;
                let znear = znear.unwrap_or_else(|| {
                    let znear = self.framed_bounds().znear(&view);
                    zfar.map_or(znear, |zfar| znear.min(zfar * 1e-3))
                });
                check_planes(znear > 0.0, znear, zfar)?;
                Lens::Perspective { focal_px, znear, zfar }
            }
            ProjectionChoice::Orthographic { metres_per_px } => {
                let px_per_unit = 1.0 / metres_per_px;
                if !(px_per_unit > 0.0 && px_per_unit.is_finite()) {
                    return refuse(format!("{metres_per_px} metres per pixel is not a scale"));
                }
                let (znear, zfar) = self.framed_bounds().planes(&view);
                Lens::Orthographic { px_per_unit, znear, zfar }
            }
        };
        Ok(View { lens, ..view })
    }
}

fn orbit_stand(theta_rad: f64, phi_rad: f64) -> Result<Stand, RenderError> {
    if !(theta_rad.is_finite() && phi_rad.is_finite()) {
        return refuse(format!("an orbit's angles are finite, not {theta_rad} and {phi_rad}"));
    }
    Ok(Stand::orbit(theta_rad, phi_rad))
}

fn explicit_matrix(columns: &[f64; 16]) -> Result<DMat4, RenderError> {
    if columns.iter().any(|entry| !(entry.abs() <= pose::COORDINATE_LIMIT)) {
        return refuse(format!("the camera matrix has an entry beyond {:e}", pose::COORDINATE_LIMIT));
    }
    let bottom = [columns[3], columns[7], columns[11], columns[15]];
    if bottom != [0.0, 0.0, 0.0, 1.0] {
        return refuse(format!(
            "the camera matrix is column-major and its last row is 0, 0, 0, 1, not {bottom:?}; \
             is it row-major?"
        ));
    }
    Ok(DMat4::from_cols_array(columns))
}

/// Tangent of half a field of view.
fn half_tangent(yfov_rad: f64) -> Result<f64, RenderError> {
    // Beyond these, focal lengths leave what f32 and integer coordinates hold.
    if !(1e-6..=std::f64::consts::PI - 1e-6).contains(&yfov_rad) {
        return refuse(format!("a vertical field of view is between 0 and pi radians, not {yfov_rad}"));
    }
    Ok(libm::tan(yfov_rad * 0.5))
}

fn check_planes(near_in_range: bool, znear: f64, zfar: Option<f64>) -> Result<(), RenderError> {
    let far_in_range = zfar.is_none_or(|zfar| zfar > znear && zfar.is_finite());
    if near_in_range && znear.is_finite() && far_in_range {
        return Ok(());
    }
    refuse(format!("the near plane {znear} and the far plane {zfar:?} leave nothing between them"))
}
