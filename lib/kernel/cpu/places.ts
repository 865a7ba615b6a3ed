/**
 * The C++ expression of each built-in position, by attribute, from `place` and `grid` of wrapper.h, the CPU's or the
 * GPU's.
 */
export const places: { readonly [attribute: string]: string } = {
  thread_position_in_grid: 'x, y, z',
  threads_per_grid: 'grid.threads',
  thread_position_in_threadgroup: 'place.inGroup',
  threadgroup_position_in_grid: 'place.group',
  threads_per_threadgroup: 'place.groupSize',
  dispatch_threads_per_threadgroup: 'grid.groupThreads',
  threadgroups_per_grid: 'grid.groups',
  thread_index_in_threadgroup: 'place.index, 0, 0',
  thread_index_in_simdgroup: 'place.index % covarium::simdWidth, 0, 0',
  simdgroup_index_in_threadgroup: 'place.index / covarium::simdWidth, 0, 0',
  threads_per_simdgroup: 'covarium::simdWidth, 0, 0',
  thread_execution_width: 'covarium::simdWidth, 0, 0',
  simdgroups_per_threadgroup:
    '(place.groupSize[0] * place.groupSize[1] * place.groupSize[2] + covarium::simdWidth - 1) / covarium::simdWidth, 0, 0',
  dispatch_simdgroups_per_threadgroup:
    '(grid.groupThreads[0] * grid.groupThreads[1] * grid.groupThreads[2] + covarium::simdWidth - 1) / covarium::simdWidth, 0, 0',
  thread_index_in_quadgroup: 'place.index % 4, 0, 0',
  quadgroup_index_in_threadgroup: 'place.index / 4, 0, 0',
  quadgroups_per_threadgroup: '(place.groupSize[0] * place.groupSize[1] * place.groupSize[2] + 3) / 4, 0, 0',
  grid_origin: '0, 0, 0',
  grid_size: 'grid.threads',
};

/** The attributes of built-in positions that the cpu device supports. */
export const placeAttributes: readonly string[] = Object.keys(places);

/** What a loop over the threads of a group says of one: wrapper.h has its counters and the group's first thread. */
export const positionText = `const uint32_t covarium_x = covarium_firstx + covarium_lx;
const uint32_t covarium_y = covarium_firsty + covarium_ly;
const uint32_t covarium_z = covarium_firstz + covarium_lz;
const uint32_t covarium_inGroup[3] = {covarium_lx, covarium_ly, covarium_lz}, covarium_index = covarium_lane;
`;

/** Declares an array with an element for each thread of a group. */
export const threadArray = (name: string, type: string, dimensions = ''): string =>
  `static thread_local ${type} ${name}_own[covarium::mostThreads]${dimensions};\ncovarium_reach(${name}, ${name}_own[0])\n`;

/** Which threads have not returned. */
export const aliveText: string = `${threadArray('covarium_alive', 'bool')}covarium_each_lane { covarium_alive[covarium_lane] = true; }
`;
