import { expect, it } from "vitest";
import { unknownVariables } from "./unknown-variables.ts";

const flags = ["machine-health-timeout", "port"].map((name) => ({ name, value: "", source: "default" }) as const);

it("finds variables of no flag, with the one that was meant", () => {
  const env = {
    MILLWRIGHT_MACHINE_HELTH_TIMEOUT: "5m",
    MILLWRIGHT_NONSENSE: "1",
    MILLWRIGHT_PORT: "8080",
    MILLWRIGHT_MACHINE_HEALTH_TIMEOUT: "5m",
    PATH: "/bin",
  };
  expect(unknownVariables(flags, env)).toEqual([
    {
      variable: "MILLWRIGHT_MACHINE_HELTH_TIMEOUT",
      because: "no flag has this variable; did you mean MILLWRIGHT_MACHINE_HEALTH_TIMEOUT?",
    },
    { variable: "MILLWRIGHT_NONSENSE", because: "no flag has this variable" },
  ]);
});

it("leaves out what Kubernetes sets for a Service", () => {
  const env = {
    MILLWRIGHT_DASHBOARD_SERVICE_HOST: "10.0.0.1",
    MILLWRIGHT_DASHBOARD_SERVICE_PORT_HTTP: "8090",
    MILLWRIGHT_DASHBOARD_PORT: "tcp://10.0.0.1:8090",
    MILLWRIGHT_DASHBOARD_PORT_8090_TCP_ADDR: "10.0.0.1",
  };
  expect(unknownVariables(flags, env)).toEqual([]);
});
