/**
 * Takes the picture of docs/operations/dashboard.md, in the middle of a rollout:
 * `node --conditions=@millwright/source test/system/take-dashboard-screenshot.ts [FILE]`. Needs Chromium (test/system/install-chromium).
 */
import { fileURLToPath } from "node:url";
import { startBrowser } from "../harness/browser.ts";
import { createKubectl } from "../harness/foreign-tools.ts";
import { startMillwright } from "../harness/millwright.ts";

const file = process.argv[2] ?? fileURLToPath(new URL("../../docs/operations/dashboard.png", import.meta.url));
const dev = startMillwright(["dev"]);
const [, kubeconfig = ""] = await dev.waitFor(/kubeconfig: (\S+)/);
const [, url = ""] = await dev.waitFor(/Dashboard: (\S+)/);
await dev.waitFor(/3 ready/);
const browser = await startBrowser();
try {
  const kubectl = await createKubectl(kubeconfig);
  await kubectl(["scale", "machinedeployment", "example", "--replicas=9"]);
  await dev.waitFor(/9 ready/);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  await page.goto(url);
  const spec = {
    strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
    template: { spec: { class: { name: "example-large" } } },
  };
  await kubectl(["patch", "machinedeployment", "example", "--type=merge", "-p", JSON.stringify({ spec })]);
  // Some machines are new and in service, others join, and others leave.
  await page
    .locator(".progress")
    .getByText(/[23] up to date · .* terminating/)
    .waitFor({ timeout: 60_000 });
  await page.screenshot({ path: file });
} finally {
  await browser.close();
  await dev.stop("SIGTERM");
}
