import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The root of the repository, if this module runs in a checkout. */
const checkout = new URL("../../../../", import.meta.url);

/**
 * The command that installs a missing driver. A checkout of this repository contains its drivers: `npm run setup` leaves out only what they need, and `npm install` would change the checkout.
 *
 * @param folder of the driver in this repository; absent for other drivers
 * @param root where the checkout would be
 */
export function installRemedy(packageName: string, folder: string | undefined, root: URL = checkout): string {
  if (folder === undefined || !existsSync(new URL(`providers/${folder}/package.json`, root)))
    return `npm install ${packageName}`;
  return `npm ci in ${fileURLToPath(root)}`;
}
