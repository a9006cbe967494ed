import type { Command } from "commander";

/** Examples of each command, by its words: the most common use first. */
const examples: Readonly<Record<string, readonly string[]>> = {
  "": ["millwright dev", "millwright why machinedeployment/pool", "millwright run --provider mock"],
  dev: ["millwright dev", "millwright dev --data ./cluster --port 8080"],
  run: [
    "millwright run --provider aws --namespace machines",
    "millwright run --provider mock --target-kubeconfig none --port 8080",
    "millwright run --provider aws --print-config",
  ],
  describe: ["millwright describe deployment pool", "millwright describe machine pool-5b77d-59mm2 -n machines"],
  "describe deployment": ["millwright describe deployment pool", "millwright describe deployment pool --watch"],
  "describe set": ["millwright describe set pool-5b77d"],
  "describe class": ["millwright describe class small -o yaml"],
  "describe machine": [
    "millwright describe machine pool-5b77d-59mm2",
    "millwright describe machine pool-5b77d-59mm2 --state state.json",
  ],
  why: ["millwright why", "millwright why mcd/pool --watch", "millwright why node/worker-1 -o json"],
  top: ["millwright top", "millwright top -n machines --filter pool", "millwright top --all-namespaces"],
  snapshot: ["millwright snapshot -n machines --file state.json"],
  export: ["millwright export -n machines --file fleet.yaml", "millwright export --secrets -o json"],
  restore: ["millwright restore fleet.yaml --dry-run", "millwright restore fleet.yaml -n machines"],
  adopt: ["millwright adopt worker-1 --deployment pool", "millwright adopt i-0abc123 --deployment pool --dry-run"],
  replay: ["millwright replay state.json"],
  drain: ["millwright drain worker-1 --dry-run"],
  drift: ["millwright drift", "millwright drift --deployment pool -o json"],
  doctor: ["millwright doctor", "millwright doctor small --provider ./my-driver.js"],
  approve: ["millwright approve deployment pool --at-a-time 3", "millwright approve --all --dry-run"],
  uninstall: ["millwright uninstall", "millwright uninstall --yes -n machines"],
  plan: ["millwright plan -f pool.yaml", "millwright plan --scale pool=5", "millwright plan --delete machine/pool-1"],
  validate: [
    "millwright validate pool.yaml",
    "millwright validate machines/ --strict",
    "helm template . | millwright validate -",
  ],
  driver: ["millwright driver digest ./my-driver.js"],
  "driver digest": ["millwright driver digest ./my-driver.js"],
  "driver serve": ["millwright driver serve aws --listen unix:///run/aws.sock"],
  conformance: ["millwright conformance --fixture fixture.ts"],
  crds: ["millwright crds | kubectl apply -f -"],
  "crds diff": ["millwright crds diff"],
  "crds apply": ["millwright crds apply --context production"],
  admission: ["millwright admission | kubectl apply -f -"],
  roles: ["millwright roles --namespace machines | kubectl apply -f -"],
  completion: ["source <(millwright completion bash)", "millwright completion fish | source"],
  version: ["millwright version"],
};

/** Adds their examples to the help of a command and of those below it. */
export function addExamples(command: Command, words: readonly string[] = []): void {
  const lines = examples[words.join(" ")] ?? [];
  if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
  for (const inner of command.commands) addExamples(inner, [...words, inner.name()]);
}
