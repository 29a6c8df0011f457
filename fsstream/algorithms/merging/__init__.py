"""What learners of shards know -> what one learner goes on from, array by array."""
