import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSkippingClock, secretProblems } from "@millwright/core/testing";
import type { GceEmulatorOptions } from "@millwright/emulators/gce";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createGcpDriver, type GcpDriverOptions } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, plainAccount, secretWith, statusWith } from "../testing/gcp-cloud.ts";
import { audience, workloadIdentity } from "../testing/workload-identity.ts";

const chain = { useDefaultCredentialChain: "true", userData: "u" };
const inProject = { ...chain, projectID: "my-project" };
const serviceAccount = "controller@my-project.iam.gserviceaccount.com";

afterEach(() => vi.unstubAllEnvs());

/** A cloud whose metadata server is that of this process. */
async function anEnvironment(emulator: GceEmulatorOptions = {}, options: GcpDriverOptions = {}) {
  const { gce, url } = await aCloud({ metadata: { project: "my-project", serviceAccount }, ...emulator });
  const { host } = new URL(url);
  vi.stubEnv("GCE_METADATA_HOST", host);
  vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", "");
  return { gce, url, host, driver: createGcpDriver({ endpoint: url, ...options }) };
}

/** A file that ends with the test. */
function aFile(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "gcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "credentials.json");
  writeFileSync(path, content);
  return path;
}

const create = (driver: ReturnType<typeof createGcpDriver>, secret: Readonly<Record<string, string>>) =>
  driver.createMachine(aRequest(aMachine("m"), {}, secret), aContext());

describe("credentials of the environment", () => {
  it("are those of the metadata server, as of Compute Engine and workload identities of GKE, and so is the project", async () => {
    const { gce, driver } = await anEnvironment();
    await expect(create(driver, chain)).resolves.toMatchObject({ providerId: "gce:///my-project/europe-west1-b/m" });
    await statusWith(driver, chain);
    expect([...gce.world.operations.values()]).toMatchObject([{ user: serviceAccount }]);
    expect([gce.log.count("metadata.token"), gce.log.count("metadata.project")]).toEqual([1, 1]);
  });

  it("may be used in another project, which the secret names", async () => {
    const { gce, driver } = await anEnvironment({ metadata: { project: "hosting", serviceAccount } });
    await expect(create(driver, inProject)).resolves.toMatchObject({
      providerId: "gce:///my-project/europe-west1-b/m",
    });
    expect(gce.log.count("metadata.project")).toBe(0);
  });

  it("are renewed before they expire, and when they are refused", async () => {
    const clock = createSkippingClock();
    const { gce, driver } = await anEnvironment({ clock }, { clock });
    await create(driver, chain);
    clock.skip(56 * 60_000);
    await statusWith(driver, chain);
    expect(gce.log.count("metadata.token")).toBe(2);
    gce.world.accessTokens.clear();
    await statusWith(driver, chain);
    expect(gce.log.count("metadata.token")).toBe(3);
  });

  it("are those of the file that GOOGLE_APPLICATION_CREDENTIALS names", async () => {
    const { gce, url, driver } = await anEnvironment({ workloadIdentities: { [audience]: "subject" } });
    const source = { file: aFile("subject") };
    const content = { ...workloadIdentity, token_url: `${url}/v1/token`, credential_source: source };
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", aFile(JSON.stringify(content)));
    await create(driver, inProject);
    await statusWith(driver, inProject);
    expect([...gce.world.operations.values()]).toMatchObject([{ user: `principal:${audience}` }]);
    expect([gce.log.count("sts.token"), gce.log.count("metadata.token")]).toEqual([1, 0]);

    gce.world.workloadIdentities.clear();
    gce.world.accessTokens.clear();
    await expect(statusWith(driver, inProject)).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/audience.*\(invalid_target\)/),
    });
    gce.faults.add({ operation: "sts.token", times: 9, end: { kind: "reset" } });
    await expect(statusWith(driver, inProject)).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringMatching(
        /the token service of GOOGLE_APPLICATION_CREDENTIALS \(.*credentials.json\) is unreachable/,
      ),
    });
  });

  it.each([
    ["is not there", () => "/no/such/file.json"],
    ["is not JSON", () => aFile('{"private_key": "secret-words')],
    ["has no credentials", () => aFile('{"type": "secret-words"}')],
  ])("are Unauthenticated when the file %s, without quoting it", async (_, path) => {
    const file = path();
    const { driver } = await anEnvironment();
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", file);
    const error: unknown = await statusWith(driver, inProject).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining(`the file of GOOGLE_APPLICATION_CREDENTIALS, ${file}, cannot be read`),
    });
    expect(String(error)).not.toContain("secret-words");
  });

  it("are Unauthenticated without a service account, and the error names the remedy", async () => {
    const { driver } = await anEnvironment({ metadata: { project: "my-project" } });
    await expect(statusWith(driver, chain)).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/metadata server 127\.0\.0\.1:\d+ issues no token .*\(status 404\): attach/),
    });
  });

  it("are Unavailable without a metadata server, which the error names, and the project with another remedy", async () => {
    const { gce, driver, url, host } = await anEnvironment();
    gce.faults.add({ operation: "metadata.project", end: { kind: "reset" } });
    await expect(statusWith(driver, chain)).rejects.toMatchObject({
      code: "Unavailable",
      message: `reading the project of the controller's environment: the metadata server ${host} is unreachable (ECONNRESET); or set "projectID" in the class secret`,
    });
    gce.faults.add({ operation: "metadata.token", times: 3, end: { kind: "reset" } });
    await expect(statusWith(driver, chain)).rejects.toMatchObject({
      code: "Unavailable",
      message: `looking for the VM: the metadata server ${host} is unreachable (ECONNRESET)`,
    });
    gce.faults.add({ operation: "metadata.project", end: { kind: "reply", reply: { status: 200, body: "<html>" } } });
    await expect(statusWith(createGcpDriver({ endpoint: url }), chain)).rejects.toThrow("did not return a project id");
  });

  it("are asked for by the secret only, and not beside others", async () => {
    const { gce, driver } = await anEnvironment();
    await expect(statusWith(driver, { userData: "u" })).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/none of the keys "serviceAccountJSON".*nor "useDefaultCredentialChain": "true"/),
    });
    expect(gce.log.count()).toBe(0);
    const problems = (more: object) => secretProblems(driver, { userData: "u", ...more });
    expect(await problems(chain)).toEqual([]);
    expect(await problems({ ...secretWith(plainAccount), useDefaultCredentialChain: "false" })).toEqual([]);
    expect(await problems({ ...secretWith(plainAccount), useDefaultCredentialChain: "" })).toEqual([]);
    expect(await problems({ ...secretWith(plainAccount), ...chain })).toEqual([
      expect.stringMatching(
        /^secret\.serviceAccountJSON: key "serviceAccountJSON" and "useDefaultCredentialChain" exclude/,
      ),
    ]);
    expect(await problems({ useDefaultCredentialChain: "yes" })).toEqual([
      expect.stringMatching(/^secret\.useDefaultCredentialChain: .*must be "true" or "false"/),
    ]);
    expect(await problems({ ...chain, projectID: "../x" })).toEqual([
      expect.stringMatching(/"projectID" must be the id of a project/),
    ]);
    expect(await problems({ useDefaultCredentialChain: "false" })).toEqual([expect.stringMatching(/has none of/)]);
  });
});
