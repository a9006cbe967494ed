import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { controllersUser } from "../harness/grant-roles.ts";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

describe("the flags of kubectl that select cluster, user and deadline", () => {
  let installation: Installation;
  let folder: string;
  let kubeconfig: string;
  beforeAll(async () => {
    installation = await startInstallation();
    folder = await mkdtemp(join(tmpdir(), "millwright-flags-"));
    kubeconfig = join(folder, "kubeconfig");
    const content = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "wrong",
      clusters: [
        { name: "dead", cluster: { server: "http://127.0.0.1:1" } },
        { name: "live", cluster: { server: installation.url } },
      ],
      users: [
        { name: "unknown", user: { token: "unknown" } },
        { name: "root", user: { token: "root" } },
      ],
      contexts: [{ name: "wrong", context: { cluster: "dead", user: "unknown" } }],
    };
    await writeFile(kubeconfig, JSON.stringify(content));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
    await installation.close();
  });

  const run = async (...args: readonly string[]) => {
    const command = startMillwright([...args, "--kubeconfig", kubeconfig]);
    const code = await command.ended;
    return { code, text: command.output().replaceAll(/\s+/g, " ") };
  };
  const live = ["--cluster", "live", "--user", "root"];
  const doctor = ["doctor", "--clusters-only", ...live];

  it("take a cluster and a user of the kubeconfig in place of those of its context", async () => {
    expect(await run("crds", "diff", ...live)).toMatchObject({ code: 0 });
    expect((await run("crds", "diff", "--user", "root")).code).toBe(1);
    const { code, text } = await run("crds", "diff", "--cluster", "live", "--user", "rot");
    expect([code, text]).toEqual([
      1,
      expect.stringContaining('user "rot" does not exist; expected one of "unknown", "root"'),
    ]);
  });

  it("let doctor look at the permissions of the controllers and of a service account", async () => {
    // doctor reads more than the controllers.
    installation.expectForbidden(/^get .*\/namespaces\/default$|^list .*\/leases$/);
    const granted = await run(...doctor, "--as", controllersUser);
    expect(granted.text).toMatch(
      / to user "controllers"\. .*All \d+ permissions that the controllers need are granted/,
    );
    const account = "system:serviceaccount:default:nothing-granted";
    const lacking = await run(...doctor, "--as", account);
    expect(lacking.code).toBe(1);
    expect(lacking.text).toContain(`to user "${account}"`);
    expect(lacking.text).toMatch(/FAILED Permission machines\.machine\.sapcloud\.io: Not allowed in namespace default/);
  });

  it("act as a user in groups, which need a user", async () => {
    expect((await run("approve", "--all", ...live, "--as", "jane")).text).toContain('User "jane" cannot list');
    const grouped = await run("approve", "--all", ...live, "--as=jane", "--as-group=a", "--as-group=system:masters");
    expect(grouped.code, grouped.text).toBe(0);
    expect(await run("approve", "--all", ...live, "--as-group=a")).toMatchObject({
      code: 2,
      text: expect.stringContaining("--as-group: expected --as, the user in the groups"),
    });
  });

  it("end a request that the API server does not answer in time", async () => {
    const fault = installation.server.faults.add({
      match: { resources: ["machinedeployments"], userAgent: "millwright" },
      effect: { kind: "latency", ms: 600_000 },
    });
    const { code, text } = await run("why", "mcd/a", ...live, "--request-timeout=500ms");
    expect([code, text]).toEqual([1, expect.stringMatching(/500 ?ms|0\.5 ?s|deadline|timed out|in time/i)]);
    fault.remove();
  });
});
