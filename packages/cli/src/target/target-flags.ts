import type { KubeConfigPermission } from "@millwright/kube";
import { InvalidArgumentError, Option } from "commander";

/** The flag that allows more in the kubeconfig of the target cluster. */
export const targetKubeconfigAllow = "--target-kubeconfig-allow";

const permissions: readonly string[] = Object.keys({
  exec: true,
  files: true,
  "proxy-url": true,
  "insecure-skip-tls-verify": true,
  http: true,
  "link-local": true,
} satisfies Record<KubeConfigPermission, true>);

function readPermissions(text: string): readonly string[] {
  const list = text.split(",").filter((item) => item !== "");
  if (list.every((item) => permissions.includes(item))) return list;
  throw new InvalidArgumentError(`expected a list of ${permissions.join(", ")}, separated by commas.`);
}

/** The flag that selects the cluster that machines join. */
export const targetKubeconfigOption = (whenAbsent = "the control cluster"): Option =>
  new Option(
    "--target-kubeconfig <file>",
    `cluster that machines join; "none" for no cluster (default: ${whenAbsent})`,
  );

/** The flag that allows more in the file of {@link targetKubeconfigOption}. */
export const targetKubeconfigAllowOption = (): Option =>
  new Option(
    `${targetKubeconfigAllow} <list>`,
    `what that file may have: ${permissions.join(",")} (default: none)`,
  ).argParser(readPermissions);
