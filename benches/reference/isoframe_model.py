"""Isoframe's surface and spot light, written again for Mitsuba from their definitions, as Python plugins.

The surface sends light from `i` to the viewer `v` by

    f = F D V + (E_ms + c (1 - E_ss - E_ms)) / pi          c = base (1 - metallic)

with GGX (alpha = roughness^2), height-correlated Smith, Schlick's Fresnel between F0 and F90, both mixed by `metallic`
from 0.04 s and s (s: KHR_materials_specular) to base and 1. E_ss is what single scattering reflects of uniform light
towards `v`, E_ms what follows within the microsurface: Fdez-Aguera, A Multiple-Scattering Microfacet Model for Real-Time
Image-based Lighting, 2019. E_ss is integrated here by itself, in f64, rather than read from Isoframe's table.

Import after a variant was set: the classes derive from that variant's.
"""
import drjit as dr
import mitsuba as mi
import numpy as np

ROUGHNESS_MIN = 0.045
COSINE_MIN = 1e-4
DIELECTRIC_F0 = 0.04
FRESNEL_MEAN = 1 / 21
TABLE_SIDE = 512


def smith_lambda(cos2, alpha):
    return 0.5 * (np.sqrt(1 + alpha * alpha * (1 - cos2) / cos2) - 1)


def single_scattering(cos_v, alpha, rings=256, spokes=256):
    """Scale of F0 and bias of F90 for one cosine: E_ss = F0 scale + F90 bias.

    Midpoint rule over the visible normals (Heitz, Sampling the GGX Distribution of Visible Normals, 2018), in which
    the integrand is Fresnel times masking of light by what already masks the view.
    """
    u = (np.arange(rings)[:, None] + 0.5) / rings
    phi = 2 * np.pi * (np.arange(spokes)[None, :] + 0.5) / spokes
    radius = np.sqrt(1 - (1 - u) ** 4)                     # rings crowd at the rim, where GGX has its tail
    weight = 4 * (1 - u) ** 3 / (rings * spokes)           # dr^2 / du
    view = np.array([np.sqrt(1 - cos_v * cos_v), 0.0, cos_v])
    stretched = view * [alpha, alpha, 1]
    stretched /= np.linalg.norm(stretched)
    across, along = radius * np.cos(phi), radius * np.sin(phi)
    lean = 0.5 * (1 + stretched[2])
    along = (1 - lean) * np.sqrt(1 - across * across) + lean * along
    out = np.sqrt(np.maximum(0, 1 - across * across - along * along))
    second = np.array([0.0, 1.0, 0.0])
    third = np.cross(stretched, second)
    facet = across[..., None] * second + along[..., None] * third + out[..., None] * stretched
    facet = facet * [alpha, alpha, 1]
    facet[..., 2] = np.maximum(facet[..., 2], 0)
    facet /= np.linalg.norm(facet, axis=-1, keepdims=True)
    v_dot_h = facet @ view
    n_dot_l = 2 * v_dot_h * facet[..., 2] - cos_v
    lit = (n_dot_l > 0) & (v_dot_h > 0)
    lambda_v, lambda_l = smith_lambda(cos_v * cos_v, alpha), smith_lambda(np.where(lit, n_dot_l, 1) ** 2, alpha)
    share = np.where(lit, weight * (1 + lambda_v) / (1 + lambda_v + lambda_l), 0)
    grazing5 = (1 - v_dot_h.clip(0, 1)) ** 5
    return (share * (1 - grazing5)).sum(), (share * grazing5).sum()


_TABLES = {}


def single_scattering_table(roughness):
    """`TABLE_SIDE` rows at cosine t^2, t from 0 to 1."""
    if roughness not in _TABLES:
        cosines = np.maximum((np.arange(TABLE_SIDE) / (TABLE_SIDE - 1)) ** 2, COSINE_MIN)
        _TABLES[roughness] = np.array([single_scattering(c, roughness * roughness) for c in cosines])
    return _TABLES[roughness]


class IsoframeSurface(mi.BSDF):
    """See the module; `set` gives it its material, a `gltf.Material`."""

    def __init__(self, props):
        mi.BSDF.__init__(self, props)
        flags = mi.BSDFFlags.DiffuseReflection | mi.BSDFFlags.GlossyReflection | mi.BSDFFlags.FrontSide
        self.m_flags = flags
        self.m_components = [flags]

    def set(self, material):
        metallic, specular = material.metallic, material.specular
        base = np.array(material.base)
        roughness = min(max(material.roughness, ROUGHNESS_MIN), 1.0)
        self.alpha = roughness * roughness
        f0 = DIELECTRIC_F0 * specular * (1 - metallic) + base * metallic
        f90 = specular * (1 - metallic) + metallic
        self.f0, self.f90 = mi.Color3f(*map(float, f0)), float(f90)
        scale, bias = single_scattering_table(roughness).T[:, :, None]
        single = f0 * scale + f90 * bias
        missing = 1 - (scale + bias)
        mean = f0 + (f90 - f0) * FRESNEL_MEAN
        multiple = single * mean * missing / (1 - missing * mean)
        around = multiple + base * (1 - metallic) * (1 - single - multiple)
        # What leaves diffusely, by cosine to the viewer, and how often to sample the mirroring lobe.
        self.around = [mi.Float(np.ascontiguousarray(around[:, k])) for k in range(3)]
        shares = single.mean(axis=1) / np.maximum(single.mean(axis=1) + around.mean(axis=1), 1e-6)
        self.mirror_share = mi.Float(shares.clip(0.05, 0.95) if single.any() else 0 * shares)
        return self

    def lookup(self, table, cosine):
        at = dr.sqrt(dr.clip(cosine, 0, 1)) * (TABLE_SIDE - 1)
        low = dr.minimum(mi.UInt32(at), TABLE_SIDE - 2)
        a, b = dr.gather(mi.Float, table, low), dr.gather(mi.Float, table, low + 1)
        return dr.lerp(a, b, at - mi.Float(low))

    def distribution(self):
        return mi.MicrofacetDistribution(mi.MicrofacetType.GGX, self.alpha, True)

    def eval_pdf(self, ctx, si, wo, active=True):
        cos_v, cos_l = mi.Frame3f.cos_theta(si.wi), mi.Frame3f.cos_theta(wo)
        active = mi.Bool(active) & (cos_v > 0) & (cos_l > 0)
        half = dr.normalize(si.wi + wo)
        v_dot_h = dr.dot(si.wi, half)
        alpha2 = self.alpha * self.alpha
        n = dr.maximum(cos_v, COSINE_MIN)
        smith = cos_l * dr.sqrt((1 - alpha2) * n * n + alpha2) + n * dr.sqrt((1 - alpha2) * cos_l * cos_l + alpha2)
        distribution = self.distribution()
        fresnel = self.f0 + (self.f90 - self.f0) * (1 - dr.clip(v_dot_h, 0, 1)) ** 5
        around = mi.Color3f(*[self.lookup(table, n) for table in self.around])
        value = fresnel * (distribution.eval(half) * 0.5 / smith) + around * dr.inv_pi
        share = self.lookup(self.mirror_share, n)
        pdf = (share * distribution.pdf(si.wi, half) / (4 * dr.maximum(v_dot_h, 1e-12))
               + (1 - share) * cos_l * dr.inv_pi)
        return dr.select(active, value * cos_l, 0), dr.select(active, pdf, 0)

    def eval(self, ctx, si, wo, active=True):
        return self.eval_pdf(ctx, si, wo, active)[0]

    def pdf(self, ctx, si, wo, active=True):
        return self.eval_pdf(ctx, si, wo, active)[1]

    def sample(self, ctx, si, sample1, sample2, active=True):
        cos_v = mi.Frame3f.cos_theta(si.wi)
        mirrored = sample1 < self.lookup(self.mirror_share, dr.maximum(cos_v, COSINE_MIN))
        half, _ = self.distribution().sample(si.wi, sample2)
        wo = dr.select(mirrored, mi.reflect(si.wi, mi.Normal3f(half)), mi.warp.square_to_cosine_hemisphere(sample2))
        value, pdf = self.eval_pdf(ctx, si, wo, mi.Bool(active) & (cos_v > 0))
        bs = mi.BSDFSample3f()
        bs.wo, bs.pdf, bs.eta = wo, pdf, 1.0
        bs.sampled_component = mi.UInt32(0)
        bs.sampled_type = dr.select(mirrored, mi.UInt32(+mi.BSDFFlags.GlossyReflection),
                                    mi.UInt32(+mi.BSDFFlags.DiffuseReflection))
        return bs, dr.select(pdf > 0, value / pdf, 0)

    def to_string(self):
        return "IsoframeSurface[]"


class GltfSpot(mi.Emitter):
    """KHR_lights_punctual's spot: the square of a ramp in the cosine. Mitsuba's own ramp is linear in the angle."""

    def __init__(self, props):
        mi.Emitter.__init__(self, props)
        self.m_flags = +mi.EmitterFlags.DeltaPosition
        self.m_needs_sample_2 = False

    def set(self, light):
        self.position = mi.Point3f(*map(float, light.position))
        self.axis = mi.Vector3f(*map(float, light.direction))
        self.strength = mi.Color3f(*map(float, light.strength))
        self.cos_outer = light.cos_outer
        self.scale = 1 / max(light.cos_inner - light.cos_outer, 0.001)
        return self

    def sample_direction(self, it, sample, active=True):
        ds = mi.DirectionSample3f()
        away = self.position - it.p
        ds.p, ds.n, ds.uv, ds.time = self.position, mi.Normal3f(0), mi.Point2f(0), it.time
        ds.dist = dr.norm(away)
        ds.d = away / ds.dist
        ds.pdf, ds.delta = mi.Float(1), mi.Bool(True)
        ds.emitter = mi.EmitterPtr(self)
        cone = dr.clip((-dr.dot(ds.d, self.axis) - self.cos_outer) * self.scale, 0, 1)
        return ds, dr.select(active, self.strength * (cone * cone / (ds.dist * ds.dist)), 0)

    def pdf_direction(self, it, ds, active=True):
        return mi.Float(0)

    def eval_direction(self, it, ds, active=True):
        cone = dr.clip((-dr.dot(ds.d, self.axis) - self.cos_outer) * self.scale, 0, 1)
        return dr.select(active, self.strength * (cone * cone / (ds.dist * ds.dist)), 0)

    def eval(self, si, active=True):
        return mi.Color3f(0)

    def bbox(self):
        return mi.ScalarBoundingBox3f()

    def to_string(self):
        return "GltfSpot[]"


mi.register_bsdf("isoframe_surface", IsoframeSurface)
mi.register_emitter("gltf_spot", GltfSpot)
