import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { systemClock } from "@millwright/base";
import {
  machineDeploymentResource,
  machineResource,
  taintKeys,
  type Machine,
  type MachineDeployment,
} from "@millwright/core/machine-api";
import { createEc2Emulator } from "@millwright/emulators/ec2";
import { nodeResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { eventually } from "../harness/eventually.ts";
import { kubectlPath } from "../harness/foreign-tools.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";
import { type RestrictedServer, startRestrictedServer } from "../harness/restricted-server.ts";
import { followInstances } from "./cloud-controller-manager/cloud-nodes.ts";
import { closeEmulator } from "./close-emulator.ts";
import { type CloudNode, patienceMs } from "./cloud-installation.ts";
import { ec2Nodes } from "./ec2-cloud.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** Answers of the command `aws`: what the guide stores in variables. All other calls print nothing. */
const aws = `#!/bin/bash
echo "$*" >> "$AWS_CALLS"
case "$*" in
  "sts get-caller-identity"*) echo 210987654321 ;;
  "ec2 create-vpc"*) echo vpc-1 ;;
  "ec2 create-internet-gateway"*) echo igw-1 ;;
  "ec2 describe-route-tables"*) echo rtb-1 ;;
  "ec2 create-subnet"*) echo subnet-guide ;;
  "ec2 create-security-group"*) echo sg-guide ;;
  "iam create-access-key"*) echo '{"AccessKeyId":"AKIA1","SecretAccessKey":"first-secret"}' ;;
  "ssm get-parameter"*) echo ami-guide ;;
esac
`;

/** The `sh` blocks below a heading of the guide, as one script. */
async function script(heading: string): Promise<string> {
  const page = await readFile(join(root, "docs/guides/aws.md"), "utf8");
  const [, section = ""] = new RegExp(`^## ${heading}\\n(.*?)(?=^## )`, "ms").exec(`${page}\n## `) ?? [];
  return [...section.matchAll(/^(`{3,})sh\n(.*?)^\1$/gms)].map(([, , block]) => block).join("\n");
}

describe("the guide of AWS, on the emulator", { timeout: 600_000 }, () => {
  let folder: string;
  let cluster: RestrictedServer;
  let env: NodeJS.ProcessEnv;
  let controllers: MillwrightProcess | undefined;
  const ec2 = createEc2Emulator({
    pendingMs: 200,
    shutdownMs: 300,
    accessKeys: { AKIA1: { secretAccessKey: "first-secret", account: "210987654321" } },
    images: { "ami-guide": { rootDeviceName: "/dev/sda1" } },
    subnets: { "subnet-guide": { zone: "eu-west-1a" } },
    securityGroups: ["sg-guide"],
    instanceProfiles: ["nodes"],
  });
  const stop = new AbortController();
  let nodes: Promise<void> | undefined;
  let taints: readonly { readonly key: string; readonly effect: string }[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-aws-guide-"));
    cluster = await startRestrictedServer({ folder });
    // The last command deletes the namespace, and with it the Role by which the controllers renew their leases.
    cluster.expectForbidden(/^update .*\/namespaces\/machines\/leases\//);
    const { url } = await ec2.listen();
    const programs = join(folder, "bin");
    await mkdir(programs);
    const program = async (name: string, text: string): Promise<void> => {
      await writeFile(join(programs, name), text);
      await chmod(join(programs, name), 0o755);
    };
    await program("aws", aws);
    await symlink(await kubectlPath(), join(programs, "kubectl"));
    for (const part of ["providers", "tools"]) await symlink(join(root, part), join(folder, part));
    const page = await readFile(join(root, "docs/guides/aws.md"), "utf8");
    const [, pool = ""] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
    await writeFile(join(folder, "pool.yaml"), pool);
    const userDataPage = await readFile(join(root, "docs/guides/user-data.md"), "utf8");
    const [, userData = ""] = /^```sh\n(#!.*?)^```$/ms.exec(userDataPage) ?? [];
    await writeFile(join(folder, "user-data.sh"), userData);
    const [, joining = ""] = /<<JOIN\n(.*?)^JOIN$/ms.exec(userData) ?? [];
    ({ taints } = parse(joining).nodeRegistration);
    env = {
      ...process.env,
      PATH: `${programs}:${process.env["PATH"]}`,
      KUBECONFIG: cluster.kubeconfig,
      AWS_CALLS: join(folder, "calls"),
      AWS_ENDPOINT_URL_EC2: url,
      AWS_EC2_METADATA_DISABLED: "true",
    };
    nodes = followInstances(
      { api: cluster.api, clock: systemClock, instances: () => ec2Nodes(ec2), taints },
      stop.signal,
    );
  });
  afterAll(async () => {
    await controllers?.stop("SIGKILL");
    stop.abort(new Error("the test ends"));
    await nodes;
    await closeEmulator(ec2);
    await rm(folder, { recursive: true, force: true });
    await cluster.close();
  });

  /** Runs a section in the shell of the reader, which keeps its variables. */
  const read = async (heading: string): Promise<string> => {
    const state = join(folder, "variables");
    const text = `set -aeuo pipefail\n[ -f ${state} ] && . ${state}\n${await script(heading)}\nexport -p > ${state}`;
    // Without --norc, bash may take its standard input, a socket, for a remote login, and read files that change PATH.
    const { stdout } = await run("bash", ["--norc", "-c", text.replaceAll("machine NAME", 'machine "$NAME"')], {
      cwd: folder,
      env,
    });
    return stdout;
  };
  const machines = async (): Promise<readonly Machine[]> =>
    (await cluster.api.list<Machine>(machineResource, { namespace: "machines" })).items;

  it("leads from an empty account to Nodes, and back", async () => {
    for (const heading of ["What you need", "Network", "Identity of the nodes", "Permissions of Millwright"])
      await read(heading);
    expect(JSON.parse(await readFile(join(folder, "policy.json"), "utf8"))).toHaveProperty("Version");
    expect(await read("Class, secret, deployment")).toContain("machinedeployment.machine.sapcloud.io/pool created");

    await cluster.grantNamespace("machines");
    const [, flags = ""] = /millwright (run .*)/.exec(await script("Run")) ?? [];
    controllers = startMillwright([...flags.split(" "), `--control-kubeconfig=${cluster.controllersKubeconfig}`], env);
    await eventually(async () => {
      const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
      expect(phases).toEqual(["Running", "Running"]);
    }, patienceMs);
    expect(ec2.inventory().instances.map(({ imageId }) => imageId)).toEqual(["ami-guide", "ami-guide"]);

    env["NAME"] = (await machines())[0]?.metadata.name ?? "";
    const seen = await read("What to check");
    expect(seen.match(/Running/g)?.length).toBeGreaterThanOrEqual(3);
    expect(seen).toContain("ip-");

    // The taint with which the kubelets registered is gone, and the pool may get an autoscaler: its size stays, nothing warns.
    expect(taints).toEqual([{ key: taintKeys.templatePending, effect: "NoSchedule" }]);
    expect(ec2.inventory().instances.map(({ userData }) => Buffer.from(userData, "base64").toString())).toEqual([
      expect.stringContaining(taintKeys.templatePending),
      expect.stringContaining(taintKeys.templatePending),
    ]);
    const { items } = await cluster.api.list<CloudNode>(nodeResource);
    expect(items.flatMap(({ spec }) => spec?.taints ?? [])).toEqual([]);
    const checked = await read("Cluster autoscaler");
    expect(checked).toContain("Secret");
    expect(checked).not.toContain("Startup taint");
    const ref = { namespace: "machines", name: "pool" };
    await eventually(async () => {
      const { metadata, spec, status } = await cluster.api.get<MachineDeployment>(machineDeploymentResource, ref);
      expect([spec.replicas, status?.observedGeneration]).toEqual([2, metadata.generation]);
    });
    expect(await readFile(join(folder, "pool.yaml"), "utf8")).not.toContain("replicas");

    await read("Clean up");
    expect(ec2.inventory().instances).toEqual([]);
    const calls = (await readFile(join(folder, "calls"), "utf8")).trim().split("\n");
    expect(calls.at(-1)).toBe("ec2 delete-vpc --vpc-id vpc-1");
    // A variable that the guide does not set would be empty, or end the shell.
    expect(calls.filter((call) => /\$|--\S+-id(s)? (--|$)/.test(call))).toEqual([]);
  });
});
