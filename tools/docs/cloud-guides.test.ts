import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { specProblems } from "@millwright/core/testing";
import { createAwsDriver } from "@millwright/provider-aws";
import { createAzureDriver } from "@millwright/provider-azure";
import { createGcpDriver } from "@millwright/provider-gcp";
import { createQemuDriver } from "@millwright/provider-qemu";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { root } from "./document-pages.ts";

const run = promisify(execFile);

/** What a reader has in the shell when a guide applies its objects. */
const variables: Readonly<Record<string, string>> = {
  ACCOUNT: "210987654321",
  AMI: "ami-0123456789abcdef0",
  AWS_REGION: "eu-central-1",
  CLUSTER: "garden",
  GROUP: "sg-0123456789abcdef0",
  IMAGE: "ubuntu-2404-noble-amd64-v20260101",
  LOCATION: "westeurope",
  PROJECT: "my-project",
  REGION: "europe-west1",
  SCOPE: "/subscriptions/1/resourceGroups/garden",
  SSH_KEY: "ssh-ed25519 AAAA reader@home",
  SUBNET: "subnet-0123456789abcdef0",
  ZONE: "europe-west1-b",
};

const guide = (name: string): Promise<string> => readFile(join(root, "docs/guides", `${name}.md`), "utf8");
/** The blocks of a language; a fence is longer where the block holds one. */
const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(/^(`{3,})(\w+)\n(.*?)^\1$/gms)].flatMap(([, , tag, block = ""]) =>
    tag === language ? [block] : [],
  );
const filledIn = (text: string): string =>
  text.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the guide sets no variable ${name}`);
    return value;
  });

const guides = [
  { name: "aws", problemsOf: (spec: unknown) => specProblems(createAwsDriver(), spec), permissions: "policy.json" },
  { name: "gcp", problemsOf: (spec: unknown) => specProblems(createGcpDriver(), spec), permissions: "role.yaml" },
  { name: "azure", problemsOf: (spec: unknown) => specProblems(createAzureDriver(), spec), permissions: "role.json" },
] as const;

describe.each(guides)("the guide of $name", ({ name, problemsOf, permissions }) => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-guide-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("has objects that Millwright takes, with a class that its driver takes", { timeout: 120_000 }, async () => {
    const [objects = ""] = blocksOf(await guide(name), "yaml");
    const file = join(folder, "pool.yaml");
    await writeFile(file, filledIn(objects));
    const [machineClass] = parseAllDocuments(filledIn(objects)).map((document): unknown => document.toJS());
    expect(machineClass).toMatchObject({
      kind: "MachineClass",
      provider: expect.stringMatching(new RegExp(name, "i")),
    });
    expect(await problemsOf(Reflect.get(Object(machineClass), "providerSpec"))).toEqual([]);
    const state = join(folder, "secret.json");
    const metadata = { name: "pool", namespace: "machines" };
    await writeFile(state, JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata }));
    const cli = ["plan", "-f", file, "--state", state, "--target-kubeconfig", "none", "-n", "machines"];
    // Status 3: the change would do something, and is not refused.
    const planned: unknown = await run(join(root, "tools/millwright"), cli).catch((error: unknown) => error);
    expect(planned).toMatchObject({ code: 3, stdout: expect.stringContaining("pool") });
  });

  it("takes the permissions from the page of the driver", async () => {
    const command = blocksOf(await guide(name), "sh")
      .map((block) => /^sed -n .*?> \S+$/ms.exec(block)?.[0])
      .find((found) => found !== undefined);
    await run("bash", ["-euo", "pipefail", "-c", (command ?? "").replace(permissions, join(folder, permissions))], {
      cwd: root,
      env: { ...process.env, ...variables },
    });
    const made = await readFile(join(folder, permissions), "utf8");
    const page = await readFile(join(root, "providers", name, "README.md"), "utf8");
    const [, published = ""] = /^## Permissions\n.*?^```\w+\n(.*?)^```/ms.exec(page) ?? [];
    expect(parse(made)).toEqual(parse(asInGuide[name](published)));
  });

  it("has the sections of the others, in their order", async () => {
    const text = await guide(name);
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).toEqual([
      "What you need",
      "Network",
      "Identity of the nodes",
      "Permissions of Millwright",
      "Class, secret, deployment",
      "Run",
      "What to check",
      "Cluster autoscaler",
      "Nodes and the cloud",
      "Clean up",
    ]);
  });
});

/** What a guide changes of the permissions that the page of the driver shows. */
const asInGuide = {
  aws: (text: string) => text.replace("123456789012", "210987654321").replaceAll("cluster/shoot", "cluster/garden"),
  gcp: (text: string) => text,
  azure: (text: string) => {
    const role: { Actions: readonly string[] } = JSON.parse(text);
    return JSON.stringify({
      ...role,
      Name: "Millwright machines of garden",
      AssignableScopes: [variables["SCOPE"]],
      Actions: ["Microsoft.Network/virtualNetworks/subnets/join/action", ...role.Actions],
    });
  },
};

describe("the guide and the page of QEMU", () => {
  it.each([
    ["guide", "docs/guides/qemu.md"],
    ["page", "providers/qemu/README.md"],
  ])("have a class that the driver takes: the %s", async (_, file) => {
    const [objects = ""] = blocksOf(await readFile(join(root, file), "utf8"), "yaml");
    const [machineClass] = parseAllDocuments(objects).map((document): unknown => document.toJS());
    expect(machineClass).toMatchObject({ kind: "MachineClass", provider: "qemu" });
    expect(await specProblems(createQemuDriver(), Reflect.get(Object(machineClass), "providerSpec"))).toEqual([]);
  });
});

describe("commands of the guides", () => {
  it.each(["aws", "gcp", "azure", "qemu", "user-data"])("are shell that can be read: %s", async (name) => {
    const blocks = blocksOf(await guide(name), "sh");
    expect(blocks.length).toBeGreaterThan(1);
    for (const block of blocks) await run("bash", ["-n", "-c", block]);
  });

  it("fill in the user data, and nothing that the shell of the VM is to read", async () => {
    const [fill = "", template = ""] = blocksOf(await guide("user-data"), "sh");
    expect(fill).toContain("envsubst '$API_SERVER $CA_HASH'");
    expect(template.match(/<<[A-Z_]+>>/g)).toEqual(["<<MACHINE_NAME>>", "<<BOOTSTRAP_TOKEN>>"]);
    expect(Buffer.byteLength(template)).toBeLessThan(16_384);
  });
});
