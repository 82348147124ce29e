// The journey of test_generated_clients.py with the generated client for Go.
package main

import (
	"context"
	"log"
	"os"
	"reflect"
	"time"
	"todo"
)

func expect(holds bool, what string) {
	if !holds {
		log.Fatal(what)
	}
}

func succeed(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// refusal returns the problem with which a request is refused.
func refusal(err error) todo.TodoProblem {
	refused, isAnswer := err.(*todo.GenericOpenAPIError)
	expect(isAnswer, "a request was not refused by an answer")
	problem, isProblem := refused.Model().(todo.TodoProblem)
	expect(isProblem, "a refusal is a problem")
	return problem
}

func main() {
	configuration := todo.NewConfiguration()
	configuration.Servers = todo.ServerConfigurations{{URL: os.Getenv("TASKS_URL")}}
	client := todo.NewAPIClient(configuration)
	signedIn := context.WithValue(context.Background(), todo.ContextAccessToken, os.Getenv("ACCESS_TOKEN"))
	tasks := client.TasksAPI
	person, _, err := client.MeAPI.WhoAmI(signedIn).Execute()
	succeed(err)
	expect(person.Expires.After(time.Now()), "the token is valid")

	task := todo.NewNewTask("Buy milk")
	task.SetDue("2026-12-24")
	task.SetNotes("Oat")
	key := time.Now().String()
	added, _, err := tasks.AddTask(signedIn).NewTask(*task).IdempotencyKey(key).Execute()
	succeed(err)
	expect(added.Owner == person.Owner && added.Task == "Buy milk" && !added.Completed, "the task is added")
	expect(added.GetDue() == "2026-12-24" && added.GetNotes() == "Oat", "the details are kept")
	again, _, err := tasks.AddTask(signedIn).NewTask(*task).IdempotencyKey(key).Execute()
	succeed(err)
	expect(again.Id == added.Id, "a repeated request adds nothing")

	_, answer, err := tasks.GetTask(signedIn, added.Id).Execute()
	succeed(err)
	tag := answer.Header.Get("ETag")
	patch := todo.NewTaskPatch()
	patch.SetCompleted(true)
	done, _, err := tasks.ChangeTask(signedIn, added.Id).TaskPatch(*patch).IfMatch(tag).Execute()
	succeed(err)
	expect(done.Completed && done.GetDue() == "2026-12-24", "only what the patch names is changed")
	_, _, err = tasks.ChangeTask(signedIn, added.Id).TaskPatch(*patch).IfMatch(tag).Execute()
	expect(refusal(err).Code == "task.changed", "a change of another state is refused")
	removal := todo.NewTaskPatch()
	removal.SetDueNil()
	bare, _, err := tasks.ChangeTask(signedIn, added.Id).TaskPatch(*removal).Execute()
	succeed(err)
	expect(!bare.HasDue() && bare.GetNotes() == "Oat", "null removes a detail")

	ids, changes := []int64{added.Id}, []todo.TaskChange{}
	for _, text := range []string{"a", "b", "c", "d"} {
		other, _, err := tasks.AddTask(signedIn).NewTask(*todo.NewNewTask(text)).Execute()
		succeed(err)
		ids = append(ids, other.Id)
	}
	for _, id := range ids {
		change := todo.NewTaskChange(id)
		change.SetCompleted(true)
		changes = append(changes, *change)
	}
	changed, _, err := tasks.ChangeTasks(signedIn).TaskChange(changes).Execute()
	succeed(err)
	expect(len(changed) == 5 && changed[4].Completed, "many tasks are changed at once")
	_, _, err = tasks.ChangeTasks(signedIn).TaskChange([]todo.TaskChange{*todo.NewTaskChange(12345)}).Execute()
	expect(reflect.DeepEqual(refusal(err).Ids, []int64{12345}), "the problem names the task that does not exist")

	found, after := []int64{}, int64(0)
	for hasMore := true; hasMore; {
		page, answer, err := tasks.ListTasks(signedIn).Limit(2).After(after).Execute()
		succeed(err)
		for _, task := range page {
			found, after = append(found, task.Id), task.Id
		}
		hasMore = answer.Header.Get("Link") != ""
	}
	expect(reflect.DeepEqual(found, ids), "the list comes in pages")

	_, err = tasks.DeleteTask(signedIn, added.Id).Execute()
	succeed(err)
	_, _, err = tasks.GetTask(signedIn, added.Id).Execute()
	expect(refusal(err).Code == "task.not_found", "the task is deleted")
	deleted, _, err := tasks.DeleteCompletedTasks(signedIn).Completed(true).Execute()
	succeed(err)
	expect(deleted.Deleted == 4, "the tasks that are done are deleted")
	unknown := context.WithValue(context.Background(), todo.ContextAccessToken, "a.b.c")
	_, _, err = tasks.ListTasks(unknown).Execute()
	expect(refusal(err).Code == "token.invalid", "a wrong token is refused")
}
