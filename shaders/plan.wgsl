// Plan: how many workgroups the lists need, once they are known.
//#include frame
//#include counters

@group(0) @binding(2) var<storage, read_write> counters: Counters;
@group(0) @binding(3) var<storage, read_write> plans: array<vec4<u32>, PLANS>;
@group(0) @binding(4) var listed: texture_storage_2d<rgba32uint, write>;

// Rows of DISPATCH_WIDTH workgroups.
fn groups(count: u32) -> vec4<u32> {
    return vec4<u32>(min(count, DISPATCH_WIDTH), (count + DISPATCH_WIDTH - 1u) / DISPATCH_WIDTH, 1u, 0u);
}

fn groups_of_lines(count: u32) -> vec4<u32> {
    return groups((count + WORKGROUP - 1u) / WORKGROUP);
}

@compute @workgroup_size(1)
fn clipped() {
    plans[PLAN_CLIPPED] = groups_of_lines(min(atomicLoad(&counters.clipped), band.clipped_capacity));
}

@compute @workgroup_size(1)
fn setups() {
    plans[PLAN_SETUP] = groups_of_lines(min(atomicLoad(&counters.setups), band.setup_capacity));
}

@compute @workgroup_size(1)
fn large() {
    plans[PLAN_LARGE] = groups(min(atomicLoad(&counters.large), band.large_capacity));
}

@compute @workgroup_size(1)
fn tiles() {
    let active_tiles = atomicLoad(&counters.active_tiles);
    plans[PLAN_ACTIVE] = groups(active_tiles);
    plans[PLAN_ACTIVE_STRIPS] = groups((active_tiles + STRIP - 1u) / STRIP);
    plans[PLAN_BLANK] = groups(atomicLoad(&counters.blank_tiles));
}

// Fills the last workgroup up with items that are none.
@compute @workgroup_size(WORKGROUP)
fn items(@builtin(local_invocation_index) local: u32) {
    let count = min(atomicLoad(&counters.items), band.item_capacity);
    let needed = groups_of_lines(count);
    if local == 0u {
        plans[PLAN_ITEM] = needed;
    }
    let number = count + local;
    if number < (count + WORKGROUP - 1u) / WORKGROUP * WORKGROUP {
        textureStore(listed, place(number), vec4<u32>(NOTHING, 0u, 0u, 0u));
    }
}
