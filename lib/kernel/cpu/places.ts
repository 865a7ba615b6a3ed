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
