TOKEN=$(curl -s '@base@@testToken@?user=@user@')
curl -s -H "Authorization: Bearer $TOKEN" @tasks@/api/tasks
