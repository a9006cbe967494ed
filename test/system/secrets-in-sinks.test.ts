import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRecord, type SecretData } from "@millwright/base";
import { defineDriver, type DriverContext, type MachineRequest, MachineError } from "@millwright/core";
import { machineClassResource, machineDeploymentResource, machineResource } from "@millwright/core/machine-api";
import { serveDriver } from "@millwright/driver-rpc";
import { eventResource, secretResource } from "@millwright/kube";
import * as fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "../harness/eventually.ts";
import { controllersUser, grantRules } from "../harness/grant-roles.ts";
import { machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { base64, kubeconfigOf } from "../harness/kubeconfig.ts";
import { startMillwright } from "../harness/millwright.ts";

/** Values of a secret by itself: each must not be seen, in whatever form. */
interface Leaves {
  readonly long: string;
  readonly password: string;
  readonly key: string;
}

/** Writes values into a structured text, as class secrets have them. */
const writers: Readonly<Record<string, (leaves: Leaves) => string>> = {
  json: ({ long, password, key }) => JSON.stringify({ a: [{ b: { c: long } }, { password }], d: { private_key: key } }),
  list: ({ long, password, key }) => JSON.stringify([long, [{ token: password }], key], null, 2),
  kubeconfig: ({ long, password, key }) =>
    JSON.stringify(
      kubeconfigOf({ server: "https://10.0.0.1" }, { token: long, password, "client-key-data": base64(key) }),
    ),
  ini: ({ long, password, key }) => `[default]\nsession = "${long}"\npassword=${password}\nsecret_key : ${key}\n`,
  env: ({ long, password, key }) => `# x\nexport SESSION='${long}'\nPASSWORD=${password}\nAPI_KEY="${key}"\r\n`,
  "cloud-config": ({ long, password, key }) =>
    `#cloud-config\nusers:\n- name: core\n  passwd: ${password}\nwrite_files:\n- content: ${long}\n  encoding: ${key}\n`,
  url: ({ long, password, key }) =>
    `postgres://me:${password}@db.example/x\nhook: https://h.example/?a=1&token=${long}\nauth: ${key}\n`,
};

const alphabet = (characters: string) => fc.constantFrom(...characters.split(""));
const leaf = (minLength: number, maxLength: number) =>
  fc.string({ unit: alphabet("abcdefghkmXYZ0123456789_-"), minLength, maxLength }).map((text) => `q${text}9`);
const someLeaves = fc.record({ long: leaf(16, 60), password: leaf(7, 12), key: leaf(22, 40) });

/** The forms in which a message of a cloud may have a value. */
const formsOf = (value: string): readonly string[] => [
  value,
  base64(value),
  Buffer.from(value).toString("base64url"),
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
];

/** A message as of a cloud that quotes all that it got. */
const echoOf = (leaves: Leaves, whole: string): string =>
  [
    ...Object.values(leaves).flatMap(formsOf),
    whole,
    JSON.stringify(whole),
    encodeURIComponent(whole),
    base64(whole),
  ].join(" | ");

/** Where a driver puts what it has read of a secret. */
const ways = ["error", "unexpected error", "log", "list", "schema"] as const;

interface Case {
  readonly name: string;
  readonly leaves: Leaves;
  readonly whole: string;
  readonly way: (typeof ways)[number];
}

const seed = 20_261_130;
const cases: readonly Case[] = Object.entries(writers).flatMap(([writer, write], index) =>
  fc.sample(someLeaves, { seed: seed + index, numRuns: ways.length }).map((leaves, run) => ({
    name: `${writer}-${run}`,
    leaves,
    whole: write(leaves),
    way: ways[run % ways.length] ?? "error",
  })),
);

/** A driver that fails with what is in the secret of the class. */
const echoing = () => {
  const caseOf = (secret: SecretData): Case | undefined =>
    cases.find(({ whole }) => secret["config"]?.reveal() === whole);
  const fail = ({ secret }: Pick<MachineRequest<unknown>, "secret">, context: DriverContext): never => {
    const found = caseOf(secret);
    const echo = found === undefined ? "no case" : echoOf(found.leaves, found.whole);
    if (found?.way === "log") context.log("warn", "The cloud responded", { response: echo });
    if (found?.way === "unexpected error") throw new TypeError(echo);
    throw new MachineError("ResourceExhausted", `the cloud responded: ${echo}`);
  };
  return defineDriver<unknown>({
    name: "mock",
    spec: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    secret: {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value) => {
          const found = cases.find(({ whole }) => isRecord(value) && value["config"] === whole);
          if (found?.way !== "schema") return { value };
          return { issues: [{ message: echoOf(found.leaves, found.whole), path: ["config"] }] };
        },
      },
    },
    createMachine: async (request, context) => fail(request, context),
    deleteMachine: async (request, context) => fail(request, context),
    getMachineStatus: async () => {
      throw new MachineError("NotFound", "no VM");
    },
    listMachines: async (request, context) => {
      if (caseOf(request.secret)?.way === "list") fail(request, context);
      return { machines: [] };
    },
  });
};

it("no value of a structured secret is in logs, events, statuses, metrics, reports or the dashboard when a driver quotes it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millwright-sinks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const driver = await serveDriver(echoing(), `unix://${join(folder, "driver.sock")}`);
  onTestFinished(() => driver.close());
  const installation = await startInstallation();
  onTestFinished(() => installation.close());
  const { api, kubeconfig, controllersKubeconfig } = installation;
  const namespace = "default";
  // For the dashboard, as its page in docs/operations has it.
  await grantRules(api, controllersUser, [{ apiGroups: [""], resources: ["events"], verbs: ["list"] }]);
  for (const { name, whole } of cases) {
    const data = { config: base64(whole), userData: base64("boot") };
    await api.create(secretResource, { metadata: { name, namespace }, data });
    await api.create(machineClassResource, { ...machineClass(name), secretRef: { name, namespace } });
    await api.create(machineDeploymentResource, machineDeployment(name, name, 1));
  }
  const [metricsPort = 0, dashboardPort = 0] = await freePorts(2);
  const run = startMillwright([
    "run",
    `--provider=${driver.address}`,
    "--no-leader-elect",
    `--control-kubeconfig=${controllersKubeconfig}`,
    "--address=127.0.0.1",
    `--port=${metricsPort}`,
    "--dashboard",
    `--dashboard-address=127.0.0.1:${dashboardPort}`,
  ]);
  onTestFinished(async () => void (await run.stop("SIGKILL")));

  const machines = async () => (await api.list(machineResource, { namespace })).items;
  const events = async () => (await api.list(eventResource, { namespace })).items;
  // Each driver error has arrived, with something in its place.
  await eventually(async () => {
    const failed = (await machines()).filter((machine) => JSON.stringify(machine).includes("[redacted]"));
    expect(failed).toHaveLength(cases.length);
    expect(JSON.stringify(await events())).toContain("[redacted]");
  }, 120_000);
  await run.waitFor(/\[redacted\]/);

  const read = async (url: string): Promise<string> => (await fetch(url)).text();
  const dashboard = `http://127.0.0.1:${dashboardPort}`;
  const names = (await machines()).map(({ metadata }) => metadata.name);
  const pages = await Promise.all(names.map((name) => read(`${dashboard}/api/machines/${namespace}/${name}`)));
  const stream = await fetch(`${dashboard}/api/stream`);
  const reader = stream.body?.getReader();
  const rows = Buffer.from((await reader?.read())?.value ?? []).toString();
  await reader?.cancel();
  const reports: string[] = [];
  // One process each: as many as there are kinds of texts.
  for (const name of names.filter((_, index) => index % ways.length === 0)) {
    const why = startMillwright(["why", `machine/${name}`, `--control-kubeconfig=${kubeconfig}`]);
    await why.ended;
    reports.push(why.output());
  }
  const sinks = {
    log: run.output(),
    events: JSON.stringify(await events()),
    machines: JSON.stringify(await machines()),
    classes: JSON.stringify((await api.list(machineClassResource, { namespace })).items),
    deployments: JSON.stringify((await api.list(machineDeploymentResource, { namespace })).items),
    metrics: await read(`http://127.0.0.1:${metricsPort}/metrics`),
    why: reports.join("\n"),
    dashboard: pages.join("\n"),
    rows,
  };
  for (const sink of ["log", "events", "machines", "why", "dashboard", "rows"] as const)
    expect(sinks[sink], sink).toContain("[redacted]");
  expect(sinks.metrics).toContain("millwright_");
  const leaks = Object.entries(sinks).flatMap(([sink, text]) =>
    cases.flatMap(({ name, leaves }) =>
      Object.entries(leaves).flatMap(([part, value]) =>
        formsOf(value).some((form) => text.includes(form)) ? [`${sink}: ${part} of ${name}`] : [],
      ),
    ),
  );
  expect(leaks).toEqual([]);
});
