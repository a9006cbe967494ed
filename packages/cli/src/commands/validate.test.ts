import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { main } from "../main.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-validate-"));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** Validates a text as a file. */
async function validate(text: string, ...flags: readonly string[]) {
  const file = join(folder, "pool.yaml");
  await writeFile(file, text);
  const { status, stdout } = await run(file, ...flags);
  return { status, lines: stdout.replaceAll(`${folder}/`, "").trimEnd().split("\n"), stdout };
}

async function run(...args: readonly string[]) {
  const stdout: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => stdout.push(String(text)) > 0);
  const status = await main(["validate", ...args]);
  vi.restoreAllMocks();
  return { status, stdout: stdout.join("") };
}

const example = (name: string): Promise<string> =>
  readFile(new URL(`../../../../examples/${name}.yaml`, import.meta.url), "utf8");

it.each(["aws", "azure", "gcp", "pool"])("finds nothing in the example of %s", async (name) => {
  const { status, lines } = await validate(await example(name));
  expect(lines).toEqual([expect.stringMatching(/^\d objects? checked: 0 errors, 0 warnings\./)]);
  expect(status).toBe(0);
});

const machineClass = `apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineClass
metadata:
  name: small
provider: GCP
secretRef: {name: cloud, namespace: default}
providerSpec:
  region: europe-west1
  zone: europe-west1-b
  MachineType: n2-standard-2
  disks:
    - boot: true
      type: pd-balanced
      image: projects/images/global/images/node-1
  networkInterfaces:
    - subnetwork: nodes
      disableExternalIp: true
      disableExternalIPs: true
  scheduling:
    provisioningModel: SPOT
    onHostMaintenance: MIGRATE
  labels:
    Team: red
`;

it("reports each problem with its line and field, in several documents", async () => {
  const deployment = `---
apiVersion: machine.sapcloud.io/v1alpha1
kind: MachineDeployment
metadata:
  name: pool
spec:
  replicas: 1
  selectr: {}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      class: {kind: MachineClass, name: small}
---
apiVersion: v1
kind: Namespace
metadata: {name: default}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: other}
`;
  const { status, lines } = await validate(machineClass + deployment);
  expect(lines).toEqual([
    'pool.yaml:21: error: MachineClass "small": providerSpec.scheduling.onHostMaintenance: must be "TERMINATE" for preemptible and spot VMs',
    expect.stringMatching(/^pool\.yaml:23: error: MachineClass "small": providerSpec\.labels\.Team: must have a key/),
    'pool.yaml:18: warning: MachineClass "small": providerSpec.networkInterfaces[0].disableExternalIPs: is not a field of driver "gcp", which ignores it: did you mean "disableExternalIP"?',
    expect.stringMatching(
      /^pool\.yaml:31: error: MachineDeployment "pool": spec\.selectr: .*did you mean spec\.selector\?/,
    ),
    "2 objects checked: 3 errors, 1 warning. 2 objects of other kinds: not checked.",
  ]);
  expect(status).toBe(1);
});

it("fails for ignored keys with --strict alone", async () => {
  const text = machineClass.replace("MIGRATE", "TERMINATE").replace("Team", "team");
  expect((await validate(text)).status).toBe(0);
  expect((await validate(text, "--strict")).status).toBe(1);
});

it("prints locations as JSON, also of items of a list", async () => {
  const item = machineClass.replaceAll(/^/gm, "    ").replace("   ", "  -").trimEnd();
  const { stdout } = await validate(`apiVersion: v1\nkind: List\nitems:\n${item}\n`, "-o", "json");
  const { checked, problems } = JSON.parse(stdout) as {
    checked: number;
    problems: { location: object; path: string }[];
  };
  expect(checked).toBe(1);
  expect(problems[0]).toMatchObject({
    location: { file: join(folder, "pool.yaml"), line: 24 },
    name: "small",
    path: "providerSpec.scheduling.onHostMaintenance",
    severity: "error",
  });
});

it("reports a file that it cannot read, and checks the others; folders, too", async () => {
  const inner = join(folder, "machines");
  await mkdir(inner);
  await writeFile(join(inner, "a.yaml"), machineClass);
  const broken = join(folder, "broken.yaml");
  await writeFile(broken, "a: [1\nb: 2\n");
  const { status, stdout } = await run(broken, inner);
  expect(stdout).toMatch(/^error: .*broken\.yaml: cannot be read: .*\n.*a\.yaml:21: error: /);
  expect(stdout).toContain("1 object checked: 3 errors, 1 warning.");
  expect(status).toBe(1);
});

it("has the remedy for a class without a known driver", async () => {
  const { lines, status } = await validate(machineClass.replace("GCP", "Hetzner"));
  expect(lines[0]).toMatch(
    /^pool\.yaml:5: error: MachineClass "small": provider: no driver "Hetzner" is known; name its package with --provider$/,
  );
  expect(status).toBe(1);
});
