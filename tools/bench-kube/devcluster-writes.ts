import { type ApiClient, createApiClient } from "@millwright/kube";
import { isCannotBuildError } from "../control-plane/cannot-build-error.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/start-control-plane.ts";
import { bestRate, type Figure } from "./devcluster-figure.ts";
import { clusterConfig, forEach, withServer } from "./devcluster-process.ts";

const configMaps = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true } as const;
const rounds = 3;

/** Creates and changes config maps of about 1 KiB; returns writes per second. */
async function writesPerSecond(api: ApiClient, round: string, count: number): Promise<number> {
  const namespace = "default";
  const data = { text: "x".repeat(800) };
  const startedMs = performance.now();
  await forEach(count, async (index) => {
    const name = `bench-${round}-${index}`;
    await api.create(configMaps, { metadata: { name, namespace }, data });
    await api.patch(configMaps, { namespace, name }, { data: { more: "y" } }, { kind: "merge" });
  });
  const perSecond = (count * 2) / ((performance.now() - startedMs) / 1000);
  await forEach(count, (index) => api.delete(configMaps, { namespace, name: `bench-${round}-${index}` }));
  return perSecond;
}

/** A real kube-apiserver with etcd; the error message where it is not available. */
async function realControlPlane(): Promise<ControlPlane | string> {
  try {
    return await startControlPlane({
      onBuild: (program, version) => process.stderr.write(`building ${program} ${version}: takes some minutes, once\n`),
    });
  } catch (error) {
    if (isCannotBuildError(error)) return error.message;
    throw error;
  }
}

/**
 * Writes per second of the devcluster and of a real kube-apiserver with etcd, measured in turns; each is the best of three rounds.
 * The devcluster is measured as it is used on a laptop (HTTP) and with the same encryption and authorization as the real one.
 */
export async function measureWrites(): Promise<readonly Figure[]> {
  const plane = await realControlPlane();
  const realRates: number[] = [];
  const plainRates: number[] = [];
  const secureRates: number[] = [];
  try {
    await withServer({}, (plain) =>
      withServer({ isSecure: true }, async (secure) => {
        const real =
          typeof plane === "string" ? undefined : createApiClient(clusterConfig(plane.url, plane.ca, plane.token));
        for (const api of [plain, secure]) await writesPerSecond(api, "warm-up", 1_000);
        if (real !== undefined) await writesPerSecond(real, "warm-up", 500);
        for (let round = 0; round < rounds; round += 1) {
          plainRates.push(await writesPerSecond(plain, String(round), 2_000));
          if (real !== undefined) realRates.push(await writesPerSecond(real, String(round), 1_000));
          secureRates.push(await writesPerSecond(secure, String(round), 2_000));
        }
        await real?.close();
      }),
    );
  } finally {
    if (typeof plane !== "string") await plane.stop();
  }
  const plain = bestRate("writes of the devcluster", plainRates);
  const secure = bestRate("writes of the devcluster, TLS and RBAC", secureRates);
  const aim = { atLeast: 2 };
  const compared = "devcluster compared with the real one";
  if (typeof plane === "string") return [plain, secure, { name: compared, unit: "times", aim, why: plane }];
  const real = bestRate("writes of kube-apiserver and etcd", realRates);
  const factor = (own: number): number => Math.round((own / real.value) * 10) / 10;
  return [
    plain,
    secure,
    real,
    { name: compared, value: factor(plain.value), unit: "times", aim },
    { name: `${compared}, both with TLS and RBAC`, value: factor(secure.value), unit: "times", aim },
  ];
}
