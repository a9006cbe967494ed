import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { authoritiesOf } from "./system-authorities.ts";

test("reads SSL_CERT_FILE and all files of SSL_CERT_DIR, and skips what cannot be read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "system-authorities-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [first = "", second = "", third = "", fourth = ""] = rootCertificates;
  const [file, one, two] = ["file.pem", "one", "two"].map((name) => join(folder, name));
  if (file === undefined || one === undefined || two === undefined) throw new Error("no names");
  await Promise.all([mkdir(one), mkdir(two)]);
  await writeFile(file, `# a comment\n${first}\n${second}\n`);
  await writeFile(join(one, "any-name"), third);
  await writeFile(join(one, "broken"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  await writeFile(join(two, "other.crt"), fourth);
  expect(authoritiesOf({ SSL_CERT_FILE: file, SSL_CERT_DIR: `${one}:${join(folder, "none")}:${two}` })).toEqual([
    first,
    second,
    third,
    fourth,
  ]);
  expect(authoritiesOf({ SSL_CERT_FILE: join(folder, "none"), SSL_CERT_DIR: "" })).toEqual([]);
  expect(authoritiesOf({})).toEqual([]);
});
