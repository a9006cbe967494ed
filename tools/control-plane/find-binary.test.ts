import { expect, test } from "vitest";
import { isCannotBuildError } from "./cannot-build-error.ts";
import { findBinary } from "./find-binary.ts";
import { script, temporaryFolder } from "./testing/temporary-folder.ts";
import { versionOf } from "./versions.ts";

/** Fails the test when anything is built. */
const go = "/nowhere/go";

test("takes the program out of KUBEBUILDER_ASSETS when its version is right", async () => {
  const assets = await temporaryFolder();
  const server = await script(assets, "kube-apiserver", `echo "Kubernetes ${versionOf("kubernetes")}"`);
  const etcd = await script(assets, "etcd", 'echo "etcd Version: 3.5.0"; echo "Go Version: go1.99.9"');
  const env = { KUBEBUILDER_ASSETS: assets };
  expect(await findBinary("kube-apiserver", { go }, env)).toBe(server);
  expect(await findBinary("etcd", { go }, env)).toBe(etcd);
});

test("reports in one line that KUBEBUILDER_ASSETS lacks a program, and builds nothing", async () => {
  const assets = await temporaryFolder();
  const found = findBinary("kube-apiserver", { go }, { KUBEBUILDER_ASSETS: assets });
  await expect(found).rejects.toThrow(
    `control plane: KUBEBUILDER_ASSETS is ${assets}, which holds no executable kube-apiserver`,
  );
  await expect(found).rejects.toSatisfy(isCannotBuildError);
});

test.for([
  ["kube-apiserver", "Kubernetes v1.30.1", /reports version "Kubernetes v1.30.1"; v1\.\d+ is needed$/],
  ["kube-controller-manager", "hello", /reports version "hello"; v1\.\d+ is needed$/],
  ["etcd", "etcd Version: 3.4.23", /reports version "etcd Version: 3.4.23"; v3.5 or newer is needed$/],
] as const)("rejects a %s in KUBEBUILDER_ASSETS that reports version %s", async ([program, version, message]) => {
  const assets = await temporaryFolder();
  await script(assets, program, `echo "${version}"`);
  await expect(findBinary(program, { go }, { KUBEBUILDER_ASSETS: assets })).rejects.toThrow(message);
});

test("rejects a program that does not run, in one line", async () => {
  const assets = await temporaryFolder();
  await script(assets, "etcd", "echo one >&2; echo two >&2; exit 3");
  await expect(findBinary("etcd", { go }, { KUBEBUILDER_ASSETS: assets })).rejects.toThrow(
    /^[^\n]*v3.5 or newer[^\n]*$/,
  );
});
