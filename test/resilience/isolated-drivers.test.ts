import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const driver = fileURLToPath(new URL("faulty-driver.ts", import.meta.url));
const namespace = "default";

/** Only catches hangs: three processes of Node start on a busy computer. */
const patienceMs = 150_000;

let installation: Installation;
let folder = "";
let millwright: MillwrightProcess;
beforeEach(async () => {
  installation = await startInstallation();
  folder = await mkdtemp(join(tmpdir(), "faulty-"));
});
afterEach(async () => {
  await millwright.stop("SIGKILL");
  await installation.close();
  await rm(folder, { recursive: true });
});

const canary = "canary-0123456789-abcdefghij";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Starts controllers with the faulty driver, and declares a machine of the simulated cloud and a class whose first creation has the fault. */
const start = (fault: string, ...flags: readonly string[]): Promise<Machine> => startWith(driver, fault, flags);

/** The same with another flag for the faulty driver. */
async function startWith(provider: string, fault: string, flags: readonly string[]): Promise<Machine> {
  const { api, controllersKubeconfig: kubeconfig } = installation;
  const data = { token: base64(canary), userData: base64(`#!/bin/sh\npasswd ${canary}-user-data\n`) };
  await api.create(secretResource, { metadata: { name: "faulty", namespace }, data });
  const providerSpec = { folder, fault };
  const secretRef = { name: "faulty", namespace };
  await api.create(machineClassResource, { ...machineClass("faulty"), provider: "faulty", providerSpec, secretRef });
  await api.create(machineClassResource, machineClass("good"));
  await api.create(machineDeploymentResource, machineDeployment("good", "good", 1));
  const args = ["run", "--provider", "mock", provider, `--control-kubeconfig=${kubeconfig}`, "--no-leader-elect"];
  millwright = startMillwright([...args, "--provider-unresponsive-timeout=10s", ...flags], {
    FAULTY_SETTING: "passed",
    FAULTY_SECRET: "not passed",
    KUBECONFIG: kubeconfig,
  });
  return running("good");
}

const machinesOf = async (pool: string): Promise<readonly Machine[]> =>
  (await installation.machines()).filter(({ metadata }) => metadata.labels?.["name"] === pool);

/** The machine of a pool, once it is Running. */
const running = (pool: string): Promise<Machine> =>
  eventually(async () => {
    const [machine] = await machinesOf(pool);
    if (machine?.status?.currentStatus?.phase !== "Running") throw new Error(`${pool} is not Running`);
    return machine;
  }, patienceMs);

const createFaulty = (name: string): Promise<unknown> =>
  installation.api.create(machineResource, {
    metadata: { name, namespace },
    spec: { class: { kind: "MachineClass", name: "faulty" } },
  });

/** The calls of creations that the driver received for a machine, each with its token. */
const creationsOf = async (name: string): Promise<readonly string[]> =>
  (await readFile(join(folder, "log"), "utf8")).split("\n").filter((line) => line.startsWith(`create ${name} `));

/** A machine of the faulty driver, once its VM is stored. */
const created = (name: string): Promise<Machine> =>
  eventually(async () => {
    const machine = await installation.api.get<Machine>(machineResource, { namespace, name });
    if ((machine.spec.providerID ?? "") === "") throw new Error(`${name} has no VM: ${JSON.stringify(machine.status)}`);
    return machine;
  }, patienceMs);

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const pids = async (): Promise<readonly number[]> =>
  (await readFile(join(folder, "pids"), "utf8")).split(" ").map(Number);

const noneLeft = (processes: readonly number[]): Promise<void> =>
  eventually(async () => expect(processes.filter(exists)).toEqual([]));

it.each([
  ["blocks its event loop for ever", "loop", "does not respond and is killed"],
  ["ends its process in a call, after it created the VM", "exit", "ended and is started again"],
  ["fills its memory with buffers", "leakBuffers", "ended and is started again"],
  ["fills its heap", "leakHeap", "ended and is started again"],
])(
  "a driver that %s disturbs no machine of another, and its own machines get their VM after the restart",
  async (_what, fault, message) => {
    const good = await start(fault, "--provider-memory-limit=400");
    await createFaulty("victim");
    await millwright.waitFor(new RegExp(`"msg":"The process of a driver ${message}`), patienceMs);
    const two = { spec: { replicas: 2 } };
    await installation.api.patch(machineDeploymentResource, { namespace, name: "good" }, two, { kind: "merge" });
    const { status } = await created("victim");
    expect(status?.history?.map(({ outcome }) => outcome)).toContain("Unavailable");
    await eventually(async () => {
      const phases = (await machinesOf("good")).map((machine) => machine.status?.currentStatus?.phase);
      expect(phases).toEqual(["Running", "Running"]);
    });
    expect((await machinesOf("good")).map(({ metadata }) => metadata.uid)).toContain(good.metadata.uid);
    // One VM, and one idempotency token for all attempts: the first may have succeeded.
    expect((await readdir(folder)).filter((name) => name.startsWith("vm-"))).toEqual(["vm-victim"]);
    const tokens = new Set((await readFile(join(folder, "log"), "utf8")).trim().split("\n"));
    expect(tokens.size).toBe(1);
    expect(await millwright.stop("SIGTERM")).toBe(0);
  },
);

it("a driver that prints secrets and floods its output shows none, in a limited number of lines, and works", async () => {
  await start("print", "--log-level=debug");
  await createFaulty("victim");
  await created("victim");
  const output = millwright.output();
  expect(output).toContain('"line":"secret [redacted]');
  expect(output).not.toContain("canary");
  expect(output).not.toContain(base64(canary).slice(0, 20));
  const lines = output.split("\n").filter((line) => line.includes("Output of a driver")).length;
  expect(lines).toBeGreaterThan(50);
  expect(lines).toBeLessThan(2_000);
  expect(await millwright.stop("SIGTERM")).toBe(0);
});

it("a driver whose call never ends serves other machines meanwhile, and gets only the environment that is declared", async () => {
  await start("hang", "--provider-env", "FAULTY_SETTING");
  await createFaulty("hanging");
  await eventually(() => pids());
  await writeFile(join(folder, "attempted-other"), "");
  await createFaulty("other");
  await created("other");
  const env: Readonly<Record<string, unknown>> = JSON.parse(await readFile(join(folder, "env"), "utf8"));
  expect(env).toMatchObject({ FAULTY_SETTING: "passed", PATH: process.env["PATH"] });
  expect(env["HOME"]).toMatch(/millwright-driver-/);
  expect(Object.keys(env)).not.toContain("KUBECONFIG");
  expect(JSON.stringify(env)).not.toContain("not passed");
  // SIGTERM ends the driver, the process that it started, and its folder.
  const processes = await pids();
  expect(await millwright.stop("SIGTERM")).toBe(0);
  await noneLeft(processes);
  await eventually(async () => expect(await readdir(tmpdir())).not.toContain(String(env["HOME"]).split("/").at(-1)));
});

it("a driver that blocks its event loop does not survive when the controllers are killed, nor do its processes", async () => {
  await start("loop", "--provider-unresponsive-timeout=10m");
  await createFaulty("victim");
  const processes = await eventually(() => pids());
  expect(processes.every(exists)).toBe(true);
  await millwright.stop("SIGKILL");
  await noneLeft(processes);
});

it.each(["at an address", "in a process of its own that cannot start at first"])(
  "a driver %s may come later: machines of another do not wait for it, and its own get their VM then",
  async (place) => {
    const isAtAddress = place === "at an address";
    const address = `unix://${join(folder, "driver.sock")}`;
    const late = join(folder, "late.ts");
    const needed = join(folder, "needed");
    await writeFile(
      late,
      `import { readFileSync } from "node:fs";\nreadFileSync(${JSON.stringify(needed)});\nexport { default } from ${JSON.stringify(driver)};\n`,
    );
    const good = await startWith(isAtAddress ? address : late, "none", []);
    await createFaulty("victim");
    await eventually(async () => {
      const { status } = await installation.api.get<Machine>(machineResource, { namespace, name: "victim" });
      expect(JSON.stringify(status)).toContain('no driver \\"faulty\\" is loaded');
    }, patienceMs);
    await writeFile(needed, "");
    // The server of the driver ends on SIGTERM although the driver has started a process.
    const server = isAtAddress ? startMillwright(["driver", "serve", driver, `--listen=${address}`]) : undefined;
    try {
      await created("victim");
      expect((await machinesOf("good")).map(({ metadata }) => metadata.uid)).toEqual([good.metadata.uid]);
      expect(await millwright.stop("SIGTERM")).toBe(0);
    } finally {
      server?.child.kill("SIGTERM");
    }
    await eventually(async () => expect([undefined, 0]).toContain(server?.child.exitCode));
  },
);

it("a driver that is replaced by another process at its address ends the calls that can end; the others are repeated there, with one VM each", async () => {
  const socket = join(folder, "driver.sock");
  const serve = (): MillwrightProcess => startMillwright(["driver", "serve", driver, `--listen=unix://${socket}`]);
  const former = serve();
  onTestFinished(async () => void (await former.stop("SIGKILL")));
  await startWith(`unix://${socket}`, "hold", []);
  await createFaulty("ends");
  await createFaulty("lost");
  const isAttempted = (name: string): boolean => existsSync(join(folder, `attempted-${name}`));
  await eventually(async () => expect([isAttempted("ends"), isAttempted("lost")]).toEqual([true, true]), patienceMs);

  former.child.kill("SIGTERM");
  // It accepts no calls from then on, while those in flight go on: another process can listen at the address.
  await eventually(async () => expect(existsSync(socket)).toBe(false));
  expect(former.child.exitCode).toBeNull();
  const next = serve();
  onTestFinished(async () => void (await next.stop("SIGKILL")));
  await writeFile(join(folder, "released-ends"), "");
  await created("ends");
  expect(await former.ended).toBe(0);
  await created("lost");
  await writeFile(join(folder, "released-later"), "");
  await createFaulty("later");
  await created("later");

  // The call that could end was not repeated; the lost one was, with the same token.
  expect(await creationsOf("ends")).toHaveLength(1);
  const [lost, ...repeated] = await creationsOf("lost");
  expect(repeated.length).toBeGreaterThan(0);
  expect(new Set([lost, ...repeated]).size).toBe(1);
  const vms = (await readdir(folder)).filter((name) => name.startsWith("vm-"));
  expect(vms.toSorted()).toEqual(["vm-ends", "vm-later", "vm-lost"]);
  expect(await millwright.stop("SIGTERM")).toBe(0);
});
