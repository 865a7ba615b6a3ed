// What both kinds of module run with the package: a normal on every available device, in this thread, and in a worker
// of the same file.
const { isMainThread, parentPort, Worker } = require('node:worker_threads');

async function drawn({ CovariumError, listDevices, MultivariateNormal, openDevice }) {
  const rows = {};
  for (const { kind, available } of listDevices()) {
    if (!available) continue;
    const device = openDevice(kind);
    const covariance = [
      [1, 0],
      [0, 1],
    ];
    const normal = await MultivariateNormal.fromCovariance({ device, covariance });
    const draws = await normal.sample(200_000, { seed: 42 });
    rows[kind] = [...draws.data.subarray(0, 3), draws.data.at(-1)];
    draws.close();
    try {
      draws.toArray();
    } catch (error) {
      rows[kind].push(error instanceof CovariumError, error.code);
    }
    device.close();
  }
  return rows;
}

module.exports = async function draw(covarium, file) {
  const here = await drawn(covarium);
  if (!isMainThread) return parentPort.postMessage(here);
  const inWorker = await new Promise((resolve, reject) => {
    new Worker(file).once('message', resolve).once('error', reject);
  });
  console.log(JSON.stringify({ here, inWorker }));
};
