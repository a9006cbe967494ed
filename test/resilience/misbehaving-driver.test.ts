import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encodedForms } from "@millwright/base";
import { machineClassResource, machineDeploymentResource, machineResource } from "@millwright/core/machine-api";
import { leaseResource, secretResource } from "@millwright/kube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const driver = fileURLToPath(new URL("misbehaving-driver.ts", import.meta.url));
const namespace = "default";

let installation: Installation;
let folder = "";
const started: MillwrightProcess[] = [];
beforeEach(async () => {
  installation = await startInstallation();
  folder = await mkdtemp(join(tmpdir(), "misbehaving-"));
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
  await installation.close();
  await rm(folder, { recursive: true });
});

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): MillwrightProcess => {
  const process = startMillwright(args, env);
  started.push(process);
  return process;
};

/** What no output may contain: each has everything that an encoding changes. */
const canaries = {
  token: "canary-1 \"a\" <b>&'c' /+=?% ünï 0123456789",
  userData: "#cloud-config\nusers:\n- passwd: canary-2/0123456789abcdef\nkubeadm join --token <<BOOTSTRAP_TOKEN>>\n",
  apiKey: "canary-3-AKIA0123456789",
  account: JSON.stringify({
    type: "service_account",
    private_key: "-----BEGIN KEY-----\ncanary4canary4canary4\n-----END-----\n",
  }),
};

/** Texts that give a secret away. */
function tracesOf(secrets: readonly string[]): readonly string[] {
  const values = secrets.flatMap((value) => [value, value.slice(0, 20), value.slice(-20)]);
  return [...values.flatMap((value) => encodedForms(Buffer.from(value))), "canary", "\u001b", "\u202e"].filter(
    (form) => form.length >= 12 || form === "canary" || form.length === 1,
  );
}

/** Creates a class with two Secrets, and a deployment of one machine. */
async function declare(): Promise<void> {
  const { api } = installation;
  const { userData, token, apiKey, account } = canaries;
  const secret = (name: string, values: Readonly<Record<string, string>>) =>
    api.create(secretResource, {
      metadata: { name, namespace },
      data: Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
      ),
    });
  await secret("boot", { userData, token });
  await secret("credentials", { apiKey, account });
  const declared = {
    provider: "leaky",
    secretRef: { name: "boot", namespace },
    credentialsSecretRef: { name: "credentials", namespace },
  };
  await api.create(machineClassResource, { ...machineClass("leaky"), ...declared });
  await api.create(machineDeploymentResource, machineDeployment("pool", "leaky", 1));
}

/** The secret halves of all bootstrap tokens. */
async function bootstrapTokens(): Promise<readonly string[]> {
  const { items } = await installation.api.list(secretResource, { namespace: "kube-system" });
  const encoded = items.flatMap((each) => /"token-secret":"([^"]+)"/.exec(JSON.stringify(each))?.[1] ?? []);
  return encoded.map((text) => Buffer.from(text, "base64").toString("utf8"));
}

test("a driver that prints secrets everywhere shows none of them, and its stray errors end no process", async () => {
  const { api, kubeconfig, controllersKubeconfig } = installation;
  await declare();
  const [port = 0] = await freePorts(1);
  const recording = join(folder, "cloud.jsonl");
  const flags = [`--control-kubeconfig=${controllersKubeconfig}`];
  const controllers = start([
    "run",
    ...flags,
    "--provider-in-process",
    driver,
    "--no-leader-elect",
    "--log-level=debug",
    `--port=${port}`,
    `--record-cloud=${recording}`,
  ]);
  const machine = await eventually(async () => {
    const [found] = await installation.machines();
    expect(found?.spec.providerID).toMatch(/^leaky:/);
    expect(found?.status?.lastKnownState ?? "").toContain("[redacted]");
    return found?.metadata.name ?? "";
  });
  for (const kind of ["after loading", "floating", "timer", "emitter"])
    await controllers.waitFor(new RegExp(`"message":"${kind}[^\\n]*"driver":"leaky"[^\\n]*outside of its calls`));
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/^millwright_driver_stray_errors_total\{provider="leaky"\} [4-9]$/m);

  const tokens = await bootstrapTokens();
  expect(tokens.length).toBeGreaterThan(0);
  const objects = JSON.stringify(await api.list(machineResource, { namespace }));
  const printed = async (...args: string[]) => {
    const command = start(args);
    await command.ended;
    return command.output();
  };
  const described = [`--control-kubeconfig=${kubeconfig}`, "--target-kubeconfig=none"];
  // It is for people, and works without this.
  installation.expectForbidden(/\/namespaces\/default$/);
  // It looks for leaders in other namespaces, which the controllers may not.
  installation.expectForbidden(/^list \/apis\/coordination.k8s.io\/v1\/leases/);
  const doctor = await printed("doctor", ...flags, "--provider", driver);
  expect(doctor).toMatch(/FAILED +leak/);
  const sinks: Readonly<Record<string, string>> = {
    objects,
    metrics,
    doctor,
    events: JSON.stringify(await api.request({ method: "GET", path: "/api/v1/events" })),
    "describe machine": await printed("describe", "machine", machine, ...described),
    "describe machine as JSON": await printed("describe", "machine", machine, ...described, "-o=json"),
    drift: await printed("drift", `--kubeconfig=${kubeconfig}`, "--provider", driver),
  };
  await api.delete(machineDeploymentResource, { namespace, name: "pool" });
  await eventually(async () => expect(await installation.machines()).toEqual([]));
  await api.create(machineDeploymentResource, machineDeployment("hanging", "leaky", 1));
  await controllers.waitFor(/"machine":"hanging-[^\n]*"msg":"creating/);
  expect(await controllers.stop("SIGTERM")).toBe(0);
  expect(controllers.output()).toMatch(/"message":"listener[^\n]*"driver":"leaky"[^\n]*outside of its calls/);
  const { account, userData, ...others } = canaries;
  const secrets = [...Object.values(others), userData.replace("<<BOOTSTRAP_TOKEN>>\n", ""), account, ...tokens];
  const texts = { ...sinks, recording: await readFile(recording, "utf8"), stderr: controllers.output() };
  const traces = tracesOf(secrets);
  for (const [sink, text] of Object.entries(texts)) {
    expect(text, sink).not.toBe("");
    const found = traces.filter((trace) => text.includes(trace));
    // Where: the end of what comes before, and what follows.
    const places = found.map((trace) => text.slice(Math.max(0, text.indexOf(trace) - 60), text.indexOf(trace) + 60));
    expect(places, sink).toEqual([]);
  }
  expect(texts.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"))).toEqual([]);
});

/** Makes a process fail as if a bug of its own had thrown, on SIGUSR2. */
const bug = "process.on('SIGUSR2',()=>setImmediate(()=>{throw new Error('a bug')}))";

test("an exception of our own ends the process in order: controllers stop, and the leases are released", async () => {
  const { api, controllersKubeconfig } = installation;
  const controllers = start(["run", "--provider=mock", `--control-kubeconfig=${controllersKubeconfig}`], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}`,
  });
  await controllers.waitFor(/"msg":"Leading"/);
  controllers.child.kill("SIGUSR2");
  expect(await controllers.ended).toBe(1);
  const lines = controllers
    .output()
    .split("\n")
    .filter((line) => line.includes("a bug"));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: "error",
    msg: "Unexpected error; stopping",
    error: { message: "a bug", stack: expect.stringContaining("Error: a bug\n") },
  });
  expect(controllers.output()).toContain('"msg":"Stopped"');
  const { items } = await api.list(leaseResource, { namespace });
  const holders = items.map((lease) => /"holderIdentity":"([^"]*)"/.exec(JSON.stringify(lease))?.[1] ?? "");
  expect(holders).toEqual(["", ""]);
});
