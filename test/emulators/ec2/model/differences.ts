import type { Exchange } from "../../server/index.ts";
import { answerProblems } from "./check-answer.ts";
import { parameterProblems } from "./check-parameters.ts";
import { exceptions, type ModelException } from "./exceptions.ts";
import { operationModel } from "./operations.ts";

/** Where a request to EC2 or STS, or an answer, differs from the models that AWS ships with its SDK. What stands in the table of exceptions is no difference. */
export function modelDifferences(
  { operation, request, reply }: Exchange,
  allowed: readonly ModelException[] = exceptions,
): readonly string[] {
  const model = operationModel(operation);
  if (model === undefined) return operation === "" ? [] : [`there is no operation ${operation}`];
  const problems = [
    ...parameterProblems(model, request.body),
    ...(reply === undefined ? [] : answerProblems(model, reply.status, reply.body)),
  ];
  return problems.filter(
    (problem) => !allowed.some((row) => row.operation === operation && row.difference.test(problem)),
  );
}
