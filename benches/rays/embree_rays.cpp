// Times Embree on the rays of a file, one ray per call, and prints what they hit. The formats are in README.md.
//
// usage: embree_rays TRIANGLES RAYS [--threads 2] [--rounds 3] [--hits FILE]
#include <embree3/rtcore.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Ray {
    float origin[3], direction[3], distance_max;
    uint32_t kind;  // 0: the nearest hit, 1: whether there is any
};
static_assert(sizeof(Ray) == 32);

struct Hit {
    uint32_t triangle;  // 0xffffffff: nothing; of any-hit rays 0 where something is
    float distance;     // +infinity where nothing is; of any-hit rays 0 where something is
};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "embree_rays: %s\n", what.c_str());
    std::exit(1);
}

template <class T>
std::vector<T> read(const char* path, const char* magic) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) fail(std::string("cannot open ") + path);
    char found[8];
    uint64_t count = 0;
    if (std::fread(found, 1, 8, file) != 8 || std::memcmp(found, magic, 8) != 0 || std::fread(&count, 8, 1, file) != 1)
        fail(std::string(path) + " does not begin with " + magic);
    std::vector<T> items(count);
    if (std::fread(items.data(), sizeof(T), count, file) != count) fail(std::string(path) + " is too short");
    std::fclose(file);
    return items;
}

struct Triangle {
    float corner[3][3];
};
static_assert(sizeof(Triangle) == 36);

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int64_t embree_bytes = 0;
bool count_bytes(void*, ssize_t bytes, bool) {
    __atomic_add_fetch(&embree_bytes, bytes, __ATOMIC_RELAXED);
    return true;
}

void trace(RTCScene scene, const Ray* rays, Hit* hits, size_t count) {
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (size_t i = 0; i < count; ++i) {
        const Ray& ray = rays[i];
        RTCRayHit query;
        query.ray = {ray.origin[0], ray.origin[1], ray.origin[2], 0.0f, ray.direction[0], ray.direction[1],
                     ray.direction[2], 0.0f, ray.distance_max, 0xffffffffu, 0, 0};
        if (ray.kind == 0) {
            query.hit.geomID = query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
            rtcIntersect1(scene, &context, &query);
            const bool found = query.hit.geomID != RTC_INVALID_GEOMETRY_ID;
            hits[i] = found ? Hit{query.hit.primID, query.ray.tfar} : Hit{0xffffffffu, INFINITY};
        } else {
            rtcOccluded1(scene, &context, &query.ray);
            hits[i] = query.ray.tfar < 0 ? Hit{0, 0.0f} : Hit{0xffffffffu, INFINITY};
        }
    }
}

// Contiguous shares of blocks, dealt in turn, so that threads see like work.
double run(RTCScene scene, const std::vector<Ray>& rays, std::vector<Hit>& hits, unsigned threads) {
    const size_t block = 4096;
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t)
        workers.emplace_back([&, t] {
            for (size_t first = t * block; first < rays.size(); first += threads * block)
                trace(scene, &rays[first], &hits[first], std::min(block, rays.size() - first));
        });
    for (auto& worker : workers) worker.join();
    return seconds_since(start);
}

uint64_t fnv1a(uint64_t hash, const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3ull;
    return hash;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) fail("usage: embree_rays TRIANGLES RAYS [--threads 2] [--rounds 3] [--hits FILE] [--robust]");
    unsigned threads = 2;
    int rounds = 3;
    const char* hits_path = nullptr;
    bool robust = false;
    for (int i = 3; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--robust") robust = true;
        else if (i + 1 == argc) fail(name + " needs a value");
        else if (name == "--threads") threads = std::max(1, std::atoi(argv[++i]));
        else if (name == "--rounds") rounds = std::max(1, std::atoi(argv[++i]));
        else if (name == "--hits") hits_path = argv[++i];
        else fail("unknown option " + name);
    }
    const auto triangles = read<Triangle>(argv[1], "ISOTRI1\n");
    const auto rays = read<Ray>(argv[2], "ISORAY1\n");

    RTCDevice device = rtcNewDevice(("threads=" + std::to_string(threads)).c_str());
    rtcSetDeviceMemoryMonitorFunction(device, count_bytes, nullptr);
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, robust ? RTC_SCENE_FLAG_ROBUST : RTC_SCENE_FLAG_NONE);
    const auto start = std::chrono::steady_clock::now();
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void* corners = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12,
                                            triangles.size() * 3);
    std::memcpy(corners, triangles.data(), triangles.size() * sizeof(Triangle));
    auto* indices = static_cast<uint32_t*>(rtcSetNewGeometryBuffer(
        geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, triangles.size()));
    for (uint32_t i = 0; i < triangles.size() * 3; ++i) indices[i] = i;
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcCommitScene(scene);
    const double build_s = seconds_since(start);
    if (const RTCError error = rtcGetDeviceError(device)) fail("Embree reports error " + std::to_string(error));

    // The buffers that hold the triangles themselves are not the structure.
    const int64_t input_bytes = static_cast<int64_t>(triangles.size()) * (36 + 12);
    std::printf("{\"embree\": \"%s\", \"threads\": %u, \"robust\": %s, \"triangles\": %zu, \"build_s\": %.4f, "
                "\"bytes_per_triangle\": %.1f",
                RTC_VERSION_STRING, threads, robust ? "true" : "false", triangles.size(), build_s,
                double(embree_bytes - input_bytes) / std::max<size_t>(1, triangles.size()));

    uint64_t hash = 0xcbf29ce484222325ull;
    std::vector<Hit> all(rays.size());
    for (uint32_t kind = 0; kind < 2; ++kind) {
        std::vector<Ray> chosen;
        std::vector<size_t> place;
        for (size_t i = 0; i < rays.size(); ++i)
            if (rays[i].kind == kind) chosen.push_back(rays[i]), place.push_back(i);
        std::vector<Hit> hits(chosen.size());
        std::vector<double> times;
        for (int round = 0; round <= rounds; ++round) {
            const double s = run(scene, chosen, hits, threads);
            if (round > 0) times.push_back(s);  // the first warms up
        }
        std::sort(times.begin(), times.end());
        size_t found = 0;
        for (size_t i = 0; i < hits.size(); ++i) found += hits[i].triangle != 0xffffffffu, all[place[i]] = hits[i];
        std::printf(", \"%s\": {\"rays\": %zu, \"hits\": %zu, \"rays_per_s\": %.0f}", kind ? "any" : "nearest",
                    hits.size(), found, hits.empty() ? 0.0 : hits.size() / times[times.size() / 2]);
    }
    hash = fnv1a(hash, all.data(), all.size() * sizeof(Hit));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::printf(", \"hits_fnv1a\": \"%016llx\", \"max_rss_bytes\": %lld}\n", static_cast<unsigned long long>(hash),
                static_cast<long long>(usage.ru_maxrss) * 1024);
    if (hits_path) {
        std::FILE* file = std::fopen(hits_path, "wb");
        const uint64_t count = all.size();
        if (!file || std::fwrite("ISOHIT1\n", 1, 8, file) != 8 || std::fwrite(&count, 8, 1, file) != 1 ||
            std::fwrite(all.data(), sizeof(Hit), count, file) != count || std::fclose(file) != 0)
            fail(std::string("cannot write ") + hits_path);
    }
    rtcReleaseGeometry(geometry);
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
}
