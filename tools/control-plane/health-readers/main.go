// Judges objects as GitOps tools do. Reads a line of JSON for each question and answers with a line:
//
//	{"object": {…}}                         kstatus of sigs.k8s.io/cli-utils, which Flux and kpt use
//	{"object": {…}, "cel": {"current": …}}  health check expressions of Flux, with the evaluator of Google's CEL
//	{"object": {…}, "lua": "…"}             a health check of Argo CD
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type question struct {
	Object map[string]any    `json:"object"`
	CEL    map[string]string `json:"cel"`
	Lua    string            `json:"lua"`
}

// ofKstatus is the status that the library computes.
func ofKstatus(object map[string]any) (string, error) {
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return "", err
	}
	return string(result.Status), nil
}

// isTrue evaluates an expression, whose variables are the fields of the object.
func isTrue(expression string, object map[string]any) (bool, error) {
	options := []cel.EnvOption{}
	for name := range object {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return false, err
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return false, issues.Err()
	}
	program, err := env.Program(ast)
	if err != nil {
		return false, err
	}
	value, _, err := program.Eval(object)
	if err != nil {
		return false, err
	}
	answer, isBool := value.Value().(bool)
	if !isBool {
		return false, fmt.Errorf("%s is no condition", expression)
	}
	return answer, nil
}

// ofFlux follows Flux: a generation that is not observed, then inProgress, failed and current, else in progress.
func ofFlux(object map[string]any, expressions map[string]string) (string, error) {
	generation, hasGeneration, _ := unstructured.NestedFieldNoCopy(object, "metadata", "generation")
	observed, hasObserved, _ := unstructured.NestedFieldNoCopy(object, "status", "observedGeneration")
	if hasGeneration && hasObserved && generation != observed {
		return "InProgress", nil
	}
	for _, each := range [][2]string{{"inProgress", "InProgress"}, {"failed", "Failed"}, {"current", "Current"}} {
		expression, isGiven := expressions[each[0]]
		if !isGiven {
			continue
		}
		answer, err := isTrue(expression, object)
		if err != nil {
			return "", err
		}
		if answer {
			return each[1], nil
		}
	}
	return "InProgress", nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch each := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, field := range each {
			table.RawSetString(key, toLua(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range each {
			table.Append(toLua(state, item))
		}
		return table
	case string:
		return lua.LString(each)
	case bool:
		return lua.LBool(each)
	case float64:
		return lua.LNumber(each)
	case int64:
		return lua.LNumber(each)
	default:
		return lua.LNil
	}
}

// ofArgo runs a script with the object in `obj`, which returns a table with `status`.
func ofArgo(object map[string]any, script string) (string, error) {
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return "", err
	}
	table, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return "", fmt.Errorf("the script returned no table")
	}
	return table.RawGetString("status").String(), nil
}

func judge(line []byte) (string, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return "", err
	}
	// Whole numbers are int64 in Kubernetes' objects.
	object := &unstructured.Unstructured{}
	text, err := json.Marshal(asked.Object)
	if err != nil {
		return "", err
	}
	if err := object.UnmarshalJSON(text); err != nil {
		return "", err
	}
	switch {
	case asked.CEL != nil:
		return ofFlux(object.Object, asked.CEL)
	case asked.Lua != "":
		return ofArgo(object.Object, asked.Lua)
	default:
		return ofKstatus(object.Object)
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		answer, err := judge(lines.Bytes())
		if err != nil {
			answer = "error: " + err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			os.Exit(1)
		}
	}
}
