import { renameSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, systemClock } from "@millwright/base";
import { createCloudServer, createSimulatedCloud, type SimulatedCloud } from "@millwright/provider-mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../main.ts";

describe("millwright conformance", () => {
  let folder: string;
  let cloud: SimulatedCloud;
  let close: () => Promise<void>;
  let flags: readonly string[];
  let endpoint: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "conformance-"));
    cloud = createSimulatedCloud({ clock: systemClock, bootDelayMs: 5, deleteDelayMs: 1 });
    const server = createCloudServer(cloud, { token: Secret.of("token-of-the-cloud") });
    const { url } = await server.listen();
    endpoint = url;
    close = () => server.close();
    const kind = (name: string): string => `apiVersion: machine.sapcloud.io/v1alpha1\nkind: ${name}\n`;
    const [machineClass, secret] = [join(folder, "class.yaml"), join(folder, "secret.yaml")];
    await writeFile(
      machineClass,
      `${kind("MachineSet")}---\n${kind("MachineClass")}providerSpec: { machineType: small }\n`,
    );
    const token = btoa("token-of-the-cloud");
    await writeFile(secret, `kind: Secret\ndata: { token: ${token} }\nstringData: { endpoint: "${url}" }\n`);
    flags = ["--provider", "mock", "--class", machineClass, "--secret", secret];
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    cloud.close();
    await close();
    await rm(folder, { recursive: true });
  });

  const run = async (...args: readonly string[]) => {
    const printed: string[] = [];
    const errors: string[] = [];
    vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
    vi.spyOn(process.stderr, "write").mockImplementation((text) => errors.push(String(text)) > 0);
    const status = await main(["conformance", ...args]);
    vi.restoreAllMocks();
    return { status, output: printed.join(""), errors: errors.join("") };
  };

  it("prints a table, and leaves nothing in the cloud", async () => {
    const { status, output } = await run(...flags, "--only", "create.vm-is-found", "delete.removes-vm");
    expect(output).toMatch(/^Driver mock 0\.1\.0, suite 0\.1\.0, profile offline, run mwc-\S+\nsha256:[0-9a-f]{64}\n/);
    expect(output).toContain("ok      create.vm-is-found\nok      delete.removes-vm\n\n2 passed, 0 failed");
    expect(status).toBe(0);
    expect(cloud.vms()).toEqual([]);
    expect(cloud.calls.filter(({ operation }) => operation === "create").length).toBeGreaterThan(1);
  });

  it("writes JUnit or JSON into a file, and fails if a rule is violated", async () => {
    await cloud.addFault({ operation: "create", code: "Internal", times: 1_000 });
    const file = join(folder, "report");
    const only = ["--only", "create.vm-is-found"];
    const junit = await run(...flags, ...only, "-o", "junit", "--report", file);
    expect({ status: junit.status, output: junit.output }).toEqual({ status: 1, output: "" });
    expect(await readFile(file, "utf8")).toContain('<failure message="A call fails with Internal');
    const json = await run(...flags, ...only, "-o", "json");
    expect(JSON.parse(json.output)).toMatchObject({
      passed: false,
      checks: [{ id: "create.vm-is-found", status: "failed" }],
    });
  });

  it.each(["table", "junit", "json"])(
    "fails when VMs are left, and names them and the driver in a %s",
    async (format) => {
      await cloud.addFault({ operation: "delete", code: "PermissionDenied", times: 1_000 });
      const { status, output } = await run(...flags, "--only", "create.vm-is-found", "-o", format);
      const [vm] = cloud.vms();
      expect(output).toContain("create.vm-is-found");
      expect(output).toMatch(/sha256:[0-9a-f]{64}/);
      expect(output).toContain(vm?.providerId);
      expect(status).toBe(1);
    },
  );

  it("takes the parts of a fixture from flags, so that their rules are checked", async () => {
    const only = [
      "--only",
      "create.other-spec-fails",
      "create.ownership-from-the-start",
      "create.missing-reference",
      "list.pages",
      "list.fails-as-a-whole",
      "errors.unreachable-cloud",
    ];
    const without = await run(...flags, ...only);
    expect(without.output).toContain("0 passed, 0 failed, 6 skipped");
    const vms = join(folder, "vms.json");
    const write = (): void => {
      const shown = cloud.vms().map(({ providerId, name, tags }) => ({ id: providerId, machineName: name, tags }));
      // Whole at once: the command may read it now.
      writeFileSync(`${vms}.new`, JSON.stringify({ vms: shown }));
      renameSync(`${vms}.new`, vms);
    };
    write();
    cloud.subscribe(write);
    const other = join(folder, "other.yaml");
    await writeFile(other, "kind: MachineClass\nproviderSpec: { machineType: large }\n");
    const { status, output } = await run(
      ...flags,
      "--other-class",
      other,
      "--inventory",
      `cat ${vms}`,
      "--page-size",
      "3",
      "--endpoint",
      endpoint,
      "--lacks",
      "references=the class names none",
      ...only,
    );
    expect(output).toContain("5 passed, 0 failed, 0 skipped, 1 not applicable");
    expect(output).toContain("The cloud lacks references: the class names none");
    expect([status, cloud.vms()]).toEqual([0, []]);
  });

  it("creates no more VMs than its flags allow", async () => {
    const before = cloud.calls.length;
    const args = [...flags, "--profile", "sandbox", "--only", "create.vm-is-found", "delete.removes-vm"];
    const { status, output } = await run(...args, "--max-creations", "1");
    expect(output).toContain("ok      create.vm-is-found\n");
    expect(output).toContain(
      "skipped delete.removes-vm\n          The run has created 1 VMs, and may create no more.\n",
    );
    expect([status, cloud.calls.slice(before).filter(({ operation }) => operation === "create").length]).toEqual([
      0, 1,
    ]);
    expect(cloud.vms()).toEqual([]);
  });

  it("stops at SIGINT after the check that is in progress, and leaves nothing", async () => {
    const unsubscribe = cloud.subscribe(() => {
      unsubscribe();
      process.emit("SIGINT");
    });
    const listeners = process.listenerCount("SIGINT");
    const { status, output, errors } = await run(...flags, "--only", "create.vm-is-found", "delete.removes-vm");
    expect(errors).toContain("millwright: stopping after the check that is in progress");
    expect(output).toContain("ok      create.vm-is-found\nskipped delete.removes-vm\n          The run was stopped.\n");
    expect([status, process.listenerCount("SIGINT"), cloud.vms()]).toEqual([1, listeners, []]);
  });

  it("ends with 2 for invalid arguments, in one line", async () => {
    await writeFile(join(folder, "broken.yaml"), "kind: MachineClass\nproviderSpec: { machineType: [small\n");
    await writeFile(join(folder, "wrong.yaml"), "kind: MachineClass\nproviderSpec: { machineType: gigantic }\n");
    const cases: readonly (readonly [readonly string[], string])[] = [
      [[...flags, "--only", "nothing"], 'millwright: there is no rule "nothing"; rules begin with driver, spec, '],
      [["--provider", "mock"], "millwright: conformance: there is no class; name it, or return it from the fixture\n"],
      [["--class", join(folder, "secret.yaml")], `millwright: ${folder}/secret.yaml has no MachineClass\n`],
      [["--class", join(folder, "broken.yaml")], `millwright: ${folder}/broken.yaml is not valid YAML: `],
      [["--class", join(folder, "missing.yaml")], `millwright: ${folder}/missing.yaml cannot be read: ENOENT`],
      [[...flags, "--class", join(folder, "wrong.yaml")], "millwright: the driver rejects the class: "],
      [
        [...flags, "--lacks", "page=none"],
        'millwright: --lacks page=none: a cloud has no property "page"; did you mean pages?',
      ],
      [[...flags, "--lacks", "pages"], "millwright: --lacks pages: the reason is missing; write pages=REASON\n"],
      [
        [...flags, "--endpoint", "http://other:1"],
        "millwright: --endpoint http://other:1: neither --class nor --secret contains it",
      ],
      [[...flags, "--inventory", "echo no"], `millwright: --inventory echo no: must print JSON, such as {"vms":[]}\n`],
      [[...flags, "--inventory", "echo broken >&2; exit 3"], "the command fails: broken\n"],
      [[...flags, "--inventory", `echo '{"vms":[{"id":1}]}'`], "vms[0].id must be a text\n"],
      [
        [...flags, "--inventory", `echo '{"vms":[],"nodes":[{"machineName":"m"}]}'`],
        "nodes[0].providerId must be a text\n",
      ],
      [[...flags, "--inventory", `echo '{"vms":[],"nodes":{}}'`], "nodes must be a list\n"],
      [["--fixture", join(folder, "none.ts")], `millwright: --fixture ${folder}/none.ts: cannot be loaded: `],
    ];
    for (const [args, message] of cases) {
      const { status, errors } = await run(...args);
      expect(errors).toContain(message);
      expect(errors.trimEnd()).not.toContain("\n");
      expect(status).toBe(2);
    }
  });
});
