// How many threads the device uses in a container with a quota of processor time. A separate namespace has the files
// that the kernel would have.
import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { moduleUrl, nodeOptions } from '../harness/child.ts';
import { onNative } from '../harness/on-native.ts';

const text = `
  const { listDevices, openDevice } = await import('${moduleUrl('lib/index.ts')}');
  const device = openDevice('cpu');
  console.log(listDevices().find(({ kind }) => kind === 'cpu').facts.threads, device.threads);`;

/** Threads with these files under /sys/fs/cgroup and these groups; undefined if no namespace can be made. */
function threadsWith(files: { readonly [name: string]: string }, own = '0::/'): string | undefined {
  const written = Object.entries(files).map(
    ([name, content]) => `mkdir -p "$(dirname /sys/fs/cgroup/${name})" && echo "${content}" > /sys/fs/cgroup/${name}`,
  );
  const groups = `echo "${own}" > /sys/fs/cgroup/own && mount --bind /sys/fs/cgroup/own /proc/$$/cgroup`;
  const script = ['mount -t tmpfs none /sys/fs/cgroup', ...written, groups, 'exec "$@"'].join(' && ');
  const node = [process.execPath, ...nodeOptions, '--input-type=module', '--eval', text];
  const { COVARIUM_THREADS: _, ...env } = process.env as { [name: string]: string };
  const inside = spawnSync('unshare', ['--mount', 'sh', '-c', script, 'sh', ...node], { encoding: 'utf8', env });
  if (inside.status === 0) return inside.stdout.trim();
  console.log(`skipped  quotas: unshare fails (${inside.error?.message ?? inside.stderr.trim()})`);
  return undefined;
}

onNative('A quota of processor time bounds the threads, rounded up.', () => {
  const without = threadsWith({});
  if (without === undefined) return;
  const all = Number.parseInt(without, 10);
  for (const [files, expected] of [
    [{ 'cpu.max': '100000 100000' }, 1],
    [{ 'cpu.max': '50000 100000' }, 1],
    [{ 'cpu.max': '150000 100000' }, Math.min(2, all)],
    [{ 'cpu.max': '100000000 100000' }, all],
    [{ 'cpu.max': 'max 100000' }, all],
    [{ 'cpu.max': '' }, all],
    [{ 'cpu/cpu.cfs_quota_us': '100000', 'cpu/cpu.cfs_period_us': '100000' }, 1],
    [{ 'cpu/cpu.cfs_quota_us': '-1', 'cpu/cpu.cfs_period_us': '100000' }, all],
  ] as const) {
    assert.is(threadsWith(files), `${expected} ${expected}`, JSON.stringify(files));
  }
});

onNative('The smallest quota counts: that of the own group or of one above it.', () => {
  const without = threadsWith({});
  if (without === undefined) return;
  const [one, all] = ['100000 100000', Number.parseInt(without, 10)];
  const slice = '0::/system.slice/job.service';
  for (const [files, own, expected] of [
    [{ 'system.slice/job.service/cpu.max': one }, slice, 1],
    [{ 'system.slice/cpu.max': one, 'system.slice/job.service/cpu.max': 'max 100000' }, slice, 1],
    [{ 'cpu.max': one, 'system.slice/cpu.max': '100000000 100000' }, slice, 1],
    // A container in the host's namespace that sees only its own group.
    [{ 'cpu.max': one }, '0::/docker/1234', 1],
    [{ 'cpu/job/cpu.cfs_quota_us': '100000', 'cpu/job/cpu.cfs_period_us': '100000' }, '4:cpu,cpuacct:/job\n0::/', 1],
    [{ 'cpu/job/cpu.cfs_quota_us': '100000', 'cpu/job/cpu.cfs_period_us': '100000' }, '3:cpuset:/job\n4:cpu:/', all],
  ] as const) {
    assert.is(threadsWith(files, own), `${expected} ${expected}`, JSON.stringify({ files, own }));
  }
});

test.run();
