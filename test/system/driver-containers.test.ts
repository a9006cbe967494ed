import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineClassResource, machineDeploymentResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { eventually } from "../harness/eventually.ts";
import { createHelm } from "../harness/foreign-tools.ts";
import { type Installation, machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { type RenderedContainer, renderChart } from "../harness/rendered-chart.ts";

let folder: string;
let installation: Installation;
const processes: MillwrightProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-drivers-"));
  installation = await startInstallation();
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.stop("SIGKILL")));
  await installation.close();
  await rm(folder, { recursive: true });
});

/** Starts a container of the chart as a process: its volumes are folders, and variables in its arguments are replaced as the kubelet does it. */
function start({ args, env }: RenderedContainer, change: (arg: string) => string = (arg) => arg): void {
  const here = (text: string): string => text.replaceAll("/run/millwright/", `${folder}/`);
  const variables = Object.fromEntries(env.map(({ name, value = "" }) => [name, here(value)]));
  const expand = (arg: string): string => arg.replaceAll(/\$\((\w+)\)/g, (all, name: string) => variables[name] ?? all);
  processes.push(
    startMillwright(
      args.map((arg) => change(here(expand(arg)))),
      variables,
    ),
  );
}

it("serves the classes of each driver that listens in a container of the chart", async () => {
  const values = join(folder, "values.yaml");
  const args = ["driver", "serve", "mock", "--listen", "unix://$(MILLWRIGHT_DRIVER_SOCKET)"];
  await writeFile(values, stringify({ drivers: [], driverContainers: [{ name: "mine", image: "x", args }] }));
  const helm = await createHelm(join(folder, "none"));
  const { container } = await renderChart(helm, ["--namespace", "default", "--values", values]);
  await mkdir(join(folder, "mine"), { mode: 0o700 });
  start(container(), (arg) =>
    arg.replace("inClusterConfig", installation.controllersKubeconfig).replace(/^--port=.*/, "--no-leader-elect"),
  );
  start(container("mine"));
  await installation.api.create(machineClassResource, machineClass("small"));
  await installation.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
  await eventually(async () => expect(installation.cloud.vms()).toHaveLength(2), 60_000);
});
