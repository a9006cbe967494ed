import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { createHelm } from "../harness/foreign-tools.ts";
import { startMillwright } from "../harness/millwright.ts";
import { renderChart } from "../harness/rendered-chart.ts";
import { startWorkingCluster, type WorkingCluster } from "../harness/working-cluster.ts";

let cluster: WorkingCluster;
beforeAll(async () => {
  cluster = await startWorkingCluster("a");
});
afterAll(() => cluster.close());

it("trusts an API server by the authorities of caBundle, as a container of the chart has them", async () => {
  const config = parse(await readFile(cluster.kubeconfig, "utf8"));
  const [named] = config.clusters;
  const authority = Buffer.from(named.cluster["certificate-authority-data"], "base64").toString("utf8");
  delete named.cluster["certificate-authority-data"];
  const kubeconfig = join(cluster.folder, "without-authority");
  await writeFile(kubeconfig, stringify(config));
  await writeFile(join(cluster.folder, "corp.pem"), authority);
  const { container } = await renderChart(await createHelm(kubeconfig), [
    "--set",
    "caBundle.configMap=corp,caBundle.key=corp.pem",
  ]);
  const env = container().env.map(({ name, value = "" }) => [
    name,
    value.replace("/etc/millwright/ca", cluster.folder),
  ]);
  const read = async (variables: object): Promise<readonly [number, string]> => {
    const command = startMillwright(["crds", "diff", "--control-kubeconfig", kubeconfig], { ...variables });
    return [await command.ended, command.output()];
  };
  // Status 3: the CustomResourceDefinitions are missing.
  expect((await read(Object.fromEntries(env)))[0]).toBe(3);
  expect(await read({})).toEqual([1, expect.stringContaining("certificate")]);
});
